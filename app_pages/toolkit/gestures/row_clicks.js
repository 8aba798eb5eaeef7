// Which row of a heatmap was clicked. Plotly tells of clicks on points, and a heatmap has none.

const STILL = 4; // pixels: what moves further is a zoom

const listening = new WeakMap(); // by component: it is called again when the number of rows changes

export default function ({ data, setTriggerValue, parentElement }) {
  listening.get(parentElement)?.abort();
  const container = document.querySelector(`.st-key-${data.figure}`);
  if (container === null) return;
  let from = null;
  const press = (event) => (from = event);
  const release = (event) => {
    const [down, plot] = [from, from?.target.closest?.(".js-plotly-plot")];
    from = null;
    if (!plot || down.target.closest(".modebar")) return;
    if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > STILL) return;
    const drawn = plot.querySelector(".nsewdrag")?.getBoundingClientRect();
    const axis = plot._fullLayout?.yaxis;
    if (!drawn || !axis || event.clientX > drawn.right) return; // left of the cells stand the labels
    if (event.clientY < drawn.top || event.clientY > drawn.bottom) return;
    const larger = drawn.height / axis._length; // where the page magnifies its figures
    const row = Math.round(axis.p2l((event.clientY - drawn.top) / larger));
    if (row >= 0 && row < data.n) setTriggerValue("row", row);
  };
  const listens = new AbortController();
  listening.set(parentElement, listens);
  container.addEventListener("pointerdown", press, { capture: true, signal: listens.signal });
  // While a button is down Plotly lays a cover over the whole page, which gets what follows.
  window.addEventListener("pointerup", release, { capture: true, signal: listens.signal });
  return () => listens.abort();
}
