// In a box of text Enter applies what was typed, as Ctrl+Enter does in Streamlit; Shift+Enter breaks the line. Who has pressed
// it wants to see the figures: the box is two lines high again until one writes on, clicks into it or comes back to it.

const BOX = '[class*="st-key-text_"]:not([class*="st-key-text_by_line_"]) textarea';

function press(event) {
  const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey);
  // While a word is composed of several keys, as in Chinese, Enter chooses the word.
  if (event.key !== "Enter" || !isPlain || event.isComposing || !event.target.matches?.(BOX)) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // to others, too, it is Ctrl+Enter that is pressed
  event.target.dataset.applied = "";
  const { key, code, keyCode } = event;
  event.target.dispatchEvent(
    new KeyboardEvent("keydown", { key, code, keyCode, ctrlKey: true, bubbles: true, cancelable: true }),
  );
}

function grow(event) {
  if (event.target.matches?.(BOX)) delete event.target.dataset.applied;
}

export default function () {
  const listens = new AbortController();
  window.addEventListener("keydown", press, { capture: true, signal: listens.signal });
  for (const type of ["input", "pointerdown", "focusin"])
    window.addEventListener(type, grow, { capture: true, signal: listens.signal });
  return () => listens.abort();
}
