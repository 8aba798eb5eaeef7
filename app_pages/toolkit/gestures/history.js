// One gesture is one step of the browser's history.
//
// Streamlit adds a step for each value that a run writes into the address: two where a click chooses layer and head. What
// follows without another gesture belongs to the same step, as does what a control has written into the address itself.

let isDone = true; // what the last gesture changed has its step

export default function () {
  const [push, replace] = [history.pushState, history.replaceState];
  const acted = () => (isDone = false);
  const gestures = ["pointerdown", "keydown", "click"];
  history.pushState = (...step) => {
    (isDone ? replace : push).apply(history, step);
    isDone = true;
  };
  history.replaceState = (...step) => {
    replace.apply(history, step);
    isDone = true;
  };
  for (const gesture of gestures) window.addEventListener(gesture, acted, true);
  return () => {
    [history.pushState, history.replaceState] = [push, replace];
    for (const gesture of gestures) window.removeEventListener(gesture, acted, true);
  };
}
