// A page opens at its top, or at the figure that its address names; on the way back, where the reader left it.
//
// Streamlit scrolls a section of the page, not the window, so the browser does not know where the reader was. Pages are
// drawn piece by piece: the target is kept until the reader moves.

let shown = null; // the page, and the figure in its address
let path = null;
let returned = null; // the step of the history to which the reader went back
let target = null; // pixels from the top, or how the key of a figure begins; null once the reader has moved

const scrolled = () => document.querySelector("[data-testid=stMain]");
const step = () => `scroll ${window.navigation?.currentEntry?.key ?? location.pathname + location.search}`;
const save = () => sessionStorage.setItem(step(), scrolled().scrollTop);

function saved() {
  const top = sessionStorage.getItem(step());
  return top === null ? null : Number(top);
}

function scrollToTarget() {
  if (target === null) return;
  if (typeof target === "number") scrolled().scrollTop = target;
  else if (toFigure()) save();
}

function toFigure() {
  const figure = scrolled().querySelector(`[class*="st-key-${CSS.escape(target)}"]`);
  if (figure === null) return false;
  const covered = document.querySelector(".st-key-navigation")?.getBoundingClientRect().bottom ?? 0;
  scrolled().scrollTop += figure.getBoundingClientRect().top - covered;
  return true;
}

const laidOut = new ResizeObserver(scrollToTarget);

function open(page, figure) {
  const isFirst = shown === null;
  const isNew = isFirst || shown.page !== page;
  if (!isNew && shown.figure === figure) return;
  [shown, path] = [{ page, figure }, location.pathname];
  const isBack = isFirst
    ? ["reload", "traverse"].includes(window.navigation?.activation?.navigationType)
    : returned === step();
  if (isBack && saved() !== null) target = saved();
  else if (isNew || figure) target = figure || 0;
  scrollToTarget();
}

function goBack() {
  returned = step();
  target = saved();
  if (path === location.pathname) scrollToTarget();
}

function move() {
  if (target === null) return;
  target = null;
  save();
}
const scroll = () => target === null && save();
const add = (event) => event.navigationType === "push" && save(); // a step on the same page begins where the last one was

export default function ({ data }) {
  const main = scrolled();
  laidOut.observe(main.querySelector("[data-testid=stMainBlockContainer]"));
  open(data.page, data.figure);
  // Adding them again changes nothing.
  main.addEventListener("scroll", scroll, { passive: true });
  for (const movement of ["wheel", "touchmove", "pointerdown", "keydown"])
    window.addEventListener(movement, move, { capture: true, passive: true });
  window.addEventListener("popstate", goBack);
  window.navigation?.addEventListener("currententrychange", add);
  return () => {
    laidOut.disconnect();
    main.removeEventListener("scroll", scroll);
    for (const movement of ["wheel", "touchmove", "pointerdown", "keydown"])
      window.removeEventListener(movement, move, { capture: true });
    window.removeEventListener("popstate", goBack);
    window.navigation?.removeEventListener("currententrychange", add);
  };
}
