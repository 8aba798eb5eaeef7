// While a slider is dragged, the figures that follow it move along: Streamlit tells of its value only at the end.
//
// Charts of Vega-Lite bind a parameter to the container of this component (`VegaFigure.following`), which has the slider's value
// and tells of it by "moved": the slider itself may come later than they, and anew. The framed row of a heatmap by Plotly is
// shifted here, from the `position` at which the server has drawn it.

const observers = new WeakMap(); // by component

function tell(slider, value) {
  const container = document.querySelector(`.st-key-gesture_${slider}`);
  if (container === null) return; // the page has changed meanwhile
  container.value = value;
  container.dispatchEvent(new Event("moved"));
}

function move(input, { slider, heatmap, position }) {
  tell(slider, input.value);
  for (const frame of document.querySelectorAll(`.st-key-shown_${heatmap} .shapelayer path`))
    frame.style.transform = `translateY(${(input.value - position) * frame.getBBox().height}px)`;
}

export default function ({ data, parentElement }) {
  const focused = document.activeElement?.closest(`.st-key-${data.slider} input`); // it may be ahead of the server
  tell(data.slider, focused?.value ?? data.position);
  observers.get(parentElement)?.disconnect();
  const observer = new MutationObserver(([{ target }]) => {
    if (target.matches(`.st-key-${data.slider} input`)) move(target, data);
  });
  observer.observe(document.querySelector("[data-testid=stMain]"), { subtree: true, attributeFilter: ["value"] });
  observers.set(parentElement, observer);
  return () => observer.disconnect();
}
