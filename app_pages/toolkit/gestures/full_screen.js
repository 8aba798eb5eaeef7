// "Full screen" in a figure's menu: closes the menu and presses the figure's own button, which styles/figures.css hides.

const OF = "st-key-full_screen_of_";
const BUTTONS = ["[data-testid=stElementToolbar] [aria-label^=Fullscreen]", "[data-title=Fullscreen]"]; // Streamlit's, Plotly's

function click({ target }) {
  const button = target.closest?.(`[class*=${OF}]`);
  if (!button) return;
  const [, figure] = button.className.match(new RegExp(`${OF}(\\S+)`));
  const menu = document.querySelector(`.${CSS.escape(`st-key-file_of_${figure}`)}`);
  menu.querySelector("button").click();
  menu.parentElement.closest(".stVerticalBlock").querySelector(BUTTONS.join()).click();
}

export default function () {
  window.addEventListener("click", click);
  return () => window.removeEventListener("click", click);
}
