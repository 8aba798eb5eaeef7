// While a slider is dragged, the figures that follow it move along: Streamlit tells of its value only at the end.
//
// Charts of Vega-Lite bind a parameter to the slider (`VegaFigure.following`) and hear of "moved"; the framed row of a heatmap by
// Plotly is shifted here, from the `position` at which the server has drawn it.

const observers = new WeakMap(); // by component

function move(input, { heatmap, position }) {
  input.dispatchEvent(new Event("moved"));
  for (const frame of document.querySelectorAll(`.st-key-shown_${heatmap} .shapelayer path`))
    frame.style.transform = `translateY(${(input.value - position) * frame.getBBox().height}px)`;
}

export default function ({ data, parentElement }) {
  observers.get(parentElement)?.disconnect();
  const observer = new MutationObserver(([{ target }]) => {
    if (target.matches(`.st-key-${data.slider} input`)) move(target, data);
  });
  observer.observe(document.querySelector("[data-testid=stMain]"), { subtree: true, attributeFilter: ["value"] });
  observers.set(parentElement, observer);
  return () => observer.disconnect();
}
