// A download is of what was chosen before it was pressed: while the server is at work on a choice, the press waits for it.

const BUTTON = "[data-testid=stDownloadButton] button";

let waiting = null; // the class that names the container of the pressed button

const app = () => document.querySelector("[data-testid=stApp]");
const isRunning = () => app().dataset.testScriptState !== "notRunning";

function click(event) {
  const container = event.target.closest?.(BUTTON)?.closest("[class*=st-key-]");
  if (!container || !isRunning()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  waiting = container.className.match(/st-key-\S+/)[0];
}

function press() {
  if (waiting === null || isRunning()) return;
  // What the run has changed is drawn in the next frames.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (waiting === null || isRunning()) return;
      const button = document.querySelector(`.${CSS.escape(waiting)} ${BUTTON}`);
      waiting = null;
      button?.click();
    }),
  );
}

export default function () {
  const runs = new MutationObserver(press);
  runs.observe(app(), { attributeFilter: ["data-test-script-state"] });
  window.addEventListener("click", click, true);
  return () => {
    runs.disconnect();
    window.removeEventListener("click", click, true);
  };
}
