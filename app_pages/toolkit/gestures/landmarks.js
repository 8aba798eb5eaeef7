// For those who hear the page or use the keyboard alone: what Streamlit gives no way to say.
//
// The navigation is a landmark, "Skip to main content" goes behind it, a button's icon does not read out its file name, and
// what scrolls takes the focus. A map takes it before its tools do, and what it shows is read out when it changes. Streamlit draws elements anew, so this looks again after each change of the page.

const SCROLLS = ".katex-display, [data-testid=stMarkdownContainer]";
const PAUSE = 200; // milliseconds: a figure under the pointer changes the page many times a second

const shown = new Map(); // by figure: what its name said last
const line = document.createElement("div"); // where a change is announced
line.className = "announced-figure";
line.setAttribute("aria-live", "polite");

function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

function nameParts() {
  const navigation = document.querySelector(".st-key-navigation");
  if (navigation !== null) {
    set(navigation, "role", "navigation");
    set(navigation, "aria-label", "Pages");
    for (const link of navigation.querySelectorAll("a"))
      if (link.closest(".st-key-here") !== null) set(link, "aria-current", "page");
      else link.removeAttribute("aria-current");
  }
  for (const icon of document.querySelectorAll("button [data-testid=stIconMaterial]"))
    if (icon.closest("button").querySelector("[data-testid=stMarkdownContainer]")?.textContent.trim())
      set(icon, "aria-hidden", "true");
  for (const box of document.querySelectorAll(SCROLLS)) {
    if (box.scrollWidth > box.clientWidth) set(box, "tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

function skip(event) {
  if (event.target.closest?.("[data-testid=stSkipToContent]") == null) return;
  const heading = document.querySelector("[data-testid=stMain] h1");
  if (heading === null) return;
  event.preventDefault();
  event.stopPropagation();
  heading.tabIndex = -1;
  heading.focus();
}

function nameFigures() {
  const names = [];
  for (const figure of document.querySelectorAll(".stPlotlyChart[aria-label]")) {
    if (figure.parentElement.closest("[tabindex='0']:not([data-testid=stMain])") === null) set(figure, "tabindex", "0");
    const key = figure.closest("[class*='st-key-shown_']")?.className.match(/st-key-shown_\S+/)[0];
    if (key === undefined) continue;
    const name = figure.getAttribute("aria-label");
    if (shown.has(key) && shown.get(key) !== name) names.push(name);
    shown.set(key, name);
  }
  if (names.length > 0) line.textContent = names[0];
}

let waiting = 0;
const changes = new MutationObserver(() => {
  waiting ||= setTimeout(() => {
    waiting = 0;
    nameParts();
    nameFigures();
  }, PAUSE);
});

export default function () {
  document.body.append(line);
  nameParts();
  nameFigures();
  changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ["aria-label"] });
  window.addEventListener("click", skip, true);
  return () => {
    changes.disconnect();
    line.remove();
    window.removeEventListener("click", skip, true);
  };
}
