// Arrow keys step through heads while a head map has the focus, and nowhere else: they are for scrolling.

export default function ({ data, setTriggerValue }) {
  const place = document.querySelector(`.st-key-${data.place}`);
  if (place === null) return;
  place.tabIndex = 0; // a click on a map gives it the focus, and so does the tabulator
  const press = (event) => {
    if (!event.key.startsWith("Arrow") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setTriggerValue("step", event.key);
  };
  place.addEventListener("keydown", press);
  return () => place.removeEventListener("keydown", press);
}
