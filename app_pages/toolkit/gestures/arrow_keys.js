// Arrow keys step through heads while a head map has the focus, and nowhere else: they are for scrolling.

const listening = new Map(); // by map: its component may be called again, and two listeners would take two steps
let clicked = null; // the map that was clicked last; a run that puts it up anew takes the focus from it

function inside(element, map) {
  return element === document.body ? clicked === map : element.closest?.(`.st-key-${map}`) != null;
}

function focus(map) {
  const container = document.querySelector(`.st-key-${map}`);
  if (container === null) return;
  container.tabIndex = 0;
  container.focus({ preventScroll: true });
}

window.addEventListener("pointerdown", () => (clicked = null), true);

export default function ({ data, setTriggerValue }) {
  const map = data.figure;
  const container = document.querySelector(`.st-key-${map}`);
  if (container !== null) {
    container.tabIndex = 0; // the tabulator gives it the focus
    container.setAttribute("role", "application"); // which passes arrow keys on
    container.setAttribute("aria-label", data.name);
  }
  const press = (event) => {
    if (!event.key.startsWith("Arrow") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!inside(event.target, map)) return;
    event.preventDefault();
    if (event.target === document.body) focus(map);
    setTriggerValue("step", event.key);
  };
  const click = (event) => {
    if (!inside(event.target, map)) return;
    clicked = map;
    focus(map); // Plotly keeps a click from doing so
  };
  listening.get(map)?.abort();
  const listens = new AbortController();
  listening.set(map, listens);
  window.addEventListener("keydown", press, { signal: listens.signal });
  window.addEventListener("pointerdown", click, { capture: true, signal: listens.signal });
  return () => listens.abort();
}
