// In a box of text Enter applies what was typed, as Ctrl+Enter does in Streamlit; Shift+Enter breaks the line.

const BOX = '[class*="st-key-text_"]:not([class*="st-key-text_by_line_"]) textarea';

function press(event) {
  const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey);
  // While a word is composed of several keys, as in Chinese, Enter chooses the word.
  if (event.key !== "Enter" || !isPlain || event.isComposing || !event.target.matches?.(BOX)) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // to others, too, it is Ctrl+Enter that is pressed
  const { key, code, keyCode } = event;
  event.target.dispatchEvent(
    new KeyboardEvent("keydown", { key, code, keyCode, ctrlKey: true, bubbles: true, cancelable: true }),
  );
}

export default function () {
  window.addEventListener("keydown", press, true);
  return () => window.removeEventListener("keydown", press, true);
}
