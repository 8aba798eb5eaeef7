// Puts the page's address into the clipboard and says so for a moment.

const SAID_FOR = 2000; // milliseconds

export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  button.onclick = async () => {
    button.textContent = (await copied(window.location.href)) ? "Link copied" : "Copy it from the address bar";
    setTimeout(() => (button.textContent = "Copy link"), SAID_FOR);
  };
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text); // exists on secure pages only
    return true;
  } catch {
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
