// Arrow keys step through heads while a head map has the focus, and nowhere else: they are for scrolling.

let clicked = null; // the map that was clicked last, as long as nothing else was: a run may put it up anew

window.addEventListener("pointerdown", () => (clicked = null), true);

export default function ({ data, setTriggerValue }) {
  const place = document.querySelector(`.st-key-${data.place}`);
  if (place === null) return;
  place.tabIndex = 0; // the tabulator gives it the focus
  const focus = () => place.focus({ preventScroll: true });
  const click = () => {
    clicked = data.place;
    focus(); // Plotly keeps a click from doing so
  };
  const press = (event) => {
    if (!event.key.startsWith("Arrow") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setTriggerValue("step", event.key);
  };
  place.addEventListener("pointerdown", click, true);
  place.addEventListener("keydown", press);
  if (clicked === data.place && document.activeElement === document.body) focus();
  return () => {
    place.removeEventListener("pointerdown", click, true);
    place.removeEventListener("keydown", press);
  };
}
