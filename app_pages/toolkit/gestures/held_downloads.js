// A download is of what was chosen before it was pressed: while the server is at work on a choice, the press waits for it, and
// styles/figures.css pales its button, which lies outside the app's own element.

const BUTTON = "[data-testid=stDownloadButton] button";
const MOST = 1000; // milliseconds in which a choice in the menu sets the server to work

let chosen = -Infinity; // when something in a menu was pressed, for which no run has begun yet
let waiting = null; // the class that names the container of the pressed button

const app = () => document.querySelector("[data-testid=stApp]");
const isRunning = () => app().dataset.testScriptState !== "notRunning";

const isAwaited = () => isRunning() || performance.now() - chosen < MOST;

function click(event) {
  const container = event.target.closest?.(BUTTON)?.closest("[class*=st-key-]");
  if (!container && event.target.closest?.("[data-testid=stPopoverBody]")) chosen = performance.now();
  if (!container || !isAwaited()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  waiting = container.className.match(/st-key-\S+/)[0];
  setTimeout(press, MOST); // what was chosen may set nothing to work
}

function press() {
  if (isRunning()) chosen = -Infinity;
  if (waiting === null || isAwaited()) return;
  // What the run has changed is drawn in the next frames.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (waiting === null || isAwaited()) return;
      const button = document.querySelector(`.${CSS.escape(waiting)} ${BUTTON}`);
      waiting = null;
      button?.click();
    }),
  );
}

export default function () {
  const runs = new MutationObserver(() => {
    document.body.toggleAttribute("data-running", app().dataset.testScriptState === "running");
    press();
  });
  runs.observe(app(), { attributeFilter: ["data-test-script-state"] });
  window.addEventListener("click", click, true);
  return () => {
    runs.disconnect();
    window.removeEventListener("click", click, true);
  };
}
