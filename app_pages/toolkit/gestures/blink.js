// Two figures alternate in one place while a button or the key B is held.

const PERIOD = 400; // ms for each; more than three changes a second could harm
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

let timer = null;
let hidden = null; // the figures, while they blink
const name = document.createElement("strong"); // of the one that is seen, above it
name.setAttribute("role", "status");
name.style.cssText = "position: fixed; z-index: 998; padding: 0 0.5rem; border-radius: 0.3rem; background: Canvas";

function draw(isSecond, data) {
  const [first, second] = hidden;
  const seen = data.figures[Number(isSecond)];
  name.textContent = seen.name;
  name.style.color = seen.colour;
  first.style.visibility = isSecond ? "hidden" : "";
  second.style.visibility = isSecond ? "" : "hidden";
}

function start(data) {
  if (timer !== null) return;
  const figures = data.figures.map(({ key }) => document.querySelector(`.st-key-${key}`));
  if (figures.includes(null)) return;
  hidden = figures;
  const [first, second] = figures.map((figure) => figure.getBoundingClientRect());
  figures[1].style.transform = `translate(${first.left - second.left}px, ${first.top - second.top}px)`;
  name.style.left = `${first.left}px`;
  name.style.top = `${first.top}px`;
  figures[0].closest("[data-testid=stApp]").append(name);
  let isSecond = true;
  draw(isSecond, data);
  timer = setInterval(() => {
    if (calm.matches) return;
    isSecond = !isSecond;
    draw(isSecond, data);
  }, PERIOD);
}

function stop() {
  if (timer === null) return;
  clearInterval(timer);
  timer = null;
  name.remove();
  for (const figure of hidden) figure.style.visibility = figure.style.transform = "";
}

const isTyping = (event) => event.target.closest?.("input, textarea, [contenteditable]") != null;
const listening = new WeakMap(); // by component: it is called again on each run

export default function ({ data, parentElement }) {
  listening.get(parentElement)?.abort();
  const listens = new AbortController();
  listening.set(parentElement, listens);
  const on = (target, type, action) => target.addEventListener(type, action, { signal: listens.signal });
  const button = parentElement.querySelector("button");
  on(button, "pointerdown", () => start(data));
  on(button, "keydown", (event) => [" ", "Enter"].includes(event.key) && start(data));
  on(window, "keydown", (event) => {
    if (event.key.toLowerCase() === "b" && !isTyping(event) && !event.ctrlKey && !event.metaKey && !event.altKey) start(data);
  });
  for (const type of ["pointerup", "pointercancel", "keyup", "blur"]) on(window, type, stop);
  return () => {
    stop();
    listens.abort();
  };
}
