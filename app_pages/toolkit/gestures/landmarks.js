// For those who hear the page or use the keyboard alone: what Streamlit gives no way to say.
//
// The navigation is a landmark, "Skip to main content" goes behind it, a button's icon does not read out its file name, and
// what scrolls takes the focus, unless it is there for screen readers alone. A second link skips to the figure. A map takes it before its tools do, and what it shows is read out when it changes. By keyboard, a menu takes the focus when it opens, and a button that gives way to another passes it on. Streamlit draws elements anew, so this looks again after each change of the page.

const SCROLLS = ".katex-display, [data-testid=stMarkdownContainer]:not(button *)";
const FIGURES = "[role=application], .stVegaLiteChart, .stPlotlyChart, .stBidiComponent";
const STRIP = ".st-key-masks_target_above .stBidiComponent"; // of tokens, a figure of less height
const LEAST = 120; // pixels that a figure is high
const PAUSE = 200; // milliseconds: a figure under the pointer changes the page many times a second

const shown = new Map(); // by figure: what its name said last
let lastAnswer = ""; // of the encoder
let hasActed = false; // the reader has: until then the page is only being loaded, in as many parts as it takes
const line = document.createElement("div"); // where a change is announced
line.className = "announced-figure";
line.setAttribute("aria-live", "polite");

const toFigure = Object.assign(document.createElement("a"), { href: "#figure", textContent: "Skip to the figure" });

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
    const scrolls = box.clientWidth > 1 && box.scrollWidth > box.clientWidth;
    if (scrolls && getComputedStyle(box).overflowX !== "visible") {
      set(box, "tabindex", "0");
      set(box, "role", "group");
    } else if (box.hasAttribute("tabindex")) {
      box.removeAttribute("tabindex");
      box.removeAttribute("role");
    }
  }
  for (const help of document.querySelectorAll("button[aria-label=Help]")) {
    const words = help.closest(".stMarkdown")?.cloneNode(true);
    for (const formula of words?.querySelectorAll(".katex, button") ?? []) formula.remove();
    const name = words?.textContent.trim().slice(0, 60);
    if (name) set(help, "aria-label", `Help for ${name}`);
  }
}

const MENU = ".stPopover button[aria-expanded]";
const FIRST = ":is(button, input, textarea, a[href], [tabindex]):not([tabindex='-1'], :disabled, [aria-label^=Help])";
let opener = null; // the button of a menu that was opened by keyboard, until the menu has something to take the focus
let wasPresenting = null;
let passesFocus = false; // from the button that was pressed to the one that leads back, until the reader does something else

function press(event) {
  if (event.detail === 0) opener = event.target.closest?.(MENU) ?? null; // by keyboard
}

function moveFocus() {
  if (opener !== null && document.activeElement !== opener) opener = null; // the reader has gone on
  const first = opener && document.querySelector(`[data-testid=stPopoverBody] ${FIRST}`);
  if (first) {
    first.focus();
    opener = null;
  }
  const isPresenting = document.querySelector(".st-key-present_leave") !== null;
  const button = document.querySelector(`.st-key-present${isPresenting ? "_leave" : ""} button`);
  if (button === null) return; // it is on its way
  if (wasPresenting !== null && wasPresenting !== isPresenting) passesFocus = true;
  wasPresenting = isPresenting;
  const { activeElement } = document;
  const isFree = activeElement === document.body || activeElement.closest("[class*=st-key-present]") !== null;
  if (passesFocus && isFree && activeElement !== button) button.focus(); // once more where the button is drawn anew
}

// The linked chart, or the strip of tokens, or the first chart or table of some height; undefined on a page without one.
function figure() {
  const main = document.querySelector("[data-testid=stMain]");
  const seen = [...(main?.querySelectorAll(FIGURES) ?? [])].filter((element) => element.matches(STRIP) || element.offsetHeight > LEAST);
  return seen.find((element) => element.role === "application") ?? seen[0];
}

function addSkipToFigure() {
  const first = document.querySelector("[data-testid=stSkipToContent]");
  if (first === null) return;
  if (first.nextSibling !== toFigure) first.after(toFigure);
  toFigure.className = first.className;
  const goal = figure();
  if (document.activeElement !== toFigure) toFigure.hidden = goal === undefined;
  if (goal === undefined) return;
  const earlier = document.getElementById("figure");
  if (earlier !== goal) earlier?.removeAttribute("id");
  goal.id ||= "figure";
  toFigure.hash = goal.id;
}

function skip(event) {
  const isToFigure = event.target === toFigure;
  if (!isToFigure && event.target.closest?.("[data-testid=stSkipToContent]") == null) return;
  const goal = isToFigure ? figure() : document.querySelector("[data-testid=stMain] h1");
  if (!goal) return;
  event.preventDefault();
  event.stopPropagation();
  if (!goal.hasAttribute("tabindex")) goal.tabIndex = -1;
  // A table or a strip of tokens has no name of its own: its chosen row or token has.
  const inside = goal.matches(".stBidiComponent") ? [...goal.querySelectorAll("div")].find((it) => it.shadowRoot)?.shadowRoot : null;
  (inside?.querySelector("tbody [tabindex='0']") ?? inside?.querySelector("[tabindex='0']") ?? goal).focus();
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
  const answer = document.querySelector(".st-key-answer")?.innerText.trim().replaceAll(/\s+/g, " ");
  const isWhole = !document.querySelector("[data-test-script-state=running]"); // it is drawn in several parts
  if (isWhole && answer && answer !== lastAnswer) {
    if (lastAnswer !== "") names.unshift(answer);
    lastAnswer = answer;
  }
  if (hasActed && names.length > 0) line.textContent = names[0];
}

function act() {
  nameFigures(); // what stands there already is no change
  hasActed = true;
  passesFocus = false;
}

let waiting = 0;
const changes = new MutationObserver(() => {
  waiting ||= setTimeout(() => {
    waiting = 0;
    nameParts();
    nameFigures();
    addSkipToFigure();
    moveFocus();
  }, PAUSE);
});

export default function () {
  document.body.append(line);
  nameParts();
  nameFigures();
  addSkipToFigure();
  moveFocus();
  changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ["aria-label", "data-test-script-state"] });
  window.addEventListener("click", skip, true);
  window.addEventListener("click", press, true);
  window.addEventListener("keydown", act, true);
  window.addEventListener("pointerdown", act, true);
  window.addEventListener("focusin", addSkipToFigure, true); // a table may have been drawn since the page changed last
  return () => {
    changes.disconnect();
    line.remove();
    toFigure.remove();
    window.removeEventListener("click", skip, true);
    window.removeEventListener("click", press, true);
    window.removeEventListener("keydown", act, true);
    window.removeEventListener("pointerdown", act, true);
    window.removeEventListener("focusin", addSkipToFigure, true);
  };
}
