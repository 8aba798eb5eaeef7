// Streamlit ignores a change that makes a text longer than its box takes, without a word. Of a longer text that is pasted,
// the beginning goes into the box, and the browser says so beside it.

const COUNTER = /(\d+)\/(\d+)$/; // below the box: its letters, and how many it takes

function paste(event) {
  const box = event.target;
  if (!box.matches?.("[data-testid=stTextArea] textarea")) return;
  const counter = box.closest("[data-testid=stTextArea]").querySelector("[data-testid=InputInstructions]");
  const atMost = Number(counter?.textContent.match(COUNTER)?.[2] ?? Infinity);
  const room = atMost - (box.value.length - (box.selectionEnd - box.selectionStart));
  const text = event.clipboardData.getData("text/plain");
  if (text.length <= room) return;
  event.preventDefault();
  document.execCommand("insertText", false, text.slice(0, Math.max(room, 0)));
  box.setCustomValidity(`The text is cut after ${atMost.toLocaleString("en")} characters.`);
  box.reportValidity();
  box.addEventListener("input", () => box.setCustomValidity(""), { once: true });
}

export default function () {
  window.addEventListener("paste", paste, true);
  return () => window.removeEventListener("paste", paste, true);
}
