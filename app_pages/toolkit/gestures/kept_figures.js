// A figure stays in sight until the one that takes its place is drawn.
//
// A figure that changes is taken away by Streamlit, or by Vega, before the next one is drawn: for some frames there is
// nothing, or Plotly's first attempt at another size, and all that stands below moves up and down again. So at every press
// this takes a picture of each figure in the window and notes the height of all; where one goes, the picture lies in its
// place, and the place keeps its height, until the next figure stands there.

const CHART = ":is(.stVegaLiteChart, .stPlotlyChart):not([data-retained] *)"; // Streamlit hides what it only retains
const ANSWER = 10000; // milliseconds in which the run that a press asks for has begun, on a server that has much to do
const AFTER = 1000; // milliseconds after a run in which figures begin to be replaced
const DRAWN = 5000; // milliseconds more in which those that were taken away are drawn; then they are let be
const STEADY = 2; // frames in a row in which a figure must stand there: Plotly changes its size between two

export default function () {
  const app = document.querySelector("[data-testid=stApp]");
  const main = document.querySelector("[data-testid=stMain]");
  if (app === null || main === null) return;
  const figures = new Map(); // by container: how its figure was, and the picture where that is shown
  let frame = 0; // the one asked for next; 0 where nothing is expected
  let until = 0; // when to stop looking
  const isRunning = () => app.dataset.testScriptState !== "notRunning";
  const checkAll = (inFrame) =>
    figures.forEach((kept, container) => check(container, kept, figures, isRunning(), inFrame));

  const begin = () => {
    for (const chart of main.querySelectorAll(CHART)) remember(chart, figures);
    until = performance.now() + ANSWER;
    frame ||= requestAnimationFrame(everyFrame);
  };
  const everyFrame = () => {
    if (isRunning()) until = performance.now() + AFTER;
    const isShowing = [...figures.values()].some((kept) => kept.picture !== null);
    if (performance.now() > until + (isShowing ? DRAWN : 0)) return end();
    checkAll(true);
    frame = requestAnimationFrame(everyFrame);
  };
  const end = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    figures.forEach(release);
    figures.clear();
  };
  const press = ({ key, target }) => {
    const isTyping = key !== undefined && key !== "Enter" && target.matches?.("input, textarea");
    if (!isTyping) begin();
  };
  const content = new MutationObserver(() => checkAll(false)); // before the next frame is painted, and the page scrolled
  content.observe(main, { childList: true, subtree: true });
  const presses = ["pointerdown", "pointerup", "keydown", "change"];
  presses.forEach((name) => window.addEventListener(name, press, true));
  window.addEventListener("resize", end);
  return () => {
    presses.forEach((name) => window.removeEventListener(name, press, true));
    window.removeEventListener("resize", end);
    content.disconnect();
    end();
  };
}

/** At a press: from here on the place of the figure is no lower than it is now. */
function remember(chart, figures) {
  const container = chart.closest(".stVerticalBlock");
  if (container === null || figures.get(container)?.picture || !isDrawn(chart)) return;
  if (container.querySelectorAll(CHART).length > 1) return; // not the place of one figure
  const box = chart.getBoundingClientRect();
  const around = container.getBoundingClientRect();
  const isInSight = box.bottom > 0 && box.top < window.innerHeight;
  figures.set(container, {
    left: box.left - around.left,
    top: box.top - around.top,
    width: box.width,
    height: box.height,
    copy: isInSight ? copied(chart) : null,
    picture: null,
    frames: 0, // in which the next figure has stood there
  });
  container.style.minHeight = `${around.height}px`;
}

function check(container, kept, figures, isRunning, inFrame) {
  const charts = container.querySelectorAll(CHART);
  if (charts.length > 1) return; // the one that goes is still there
  const isGone = charts.length === 0 && !isRunning;
  if (!container.isConnected || isGone) {
    release(kept, container);
    figures.delete(container);
  } else if (charts.length === 0 || !isDrawn(charts[0])) {
    kept.frames = 0;
    if (kept.picture === null) show(kept, container);
  } else if (inFrame && kept.picture !== null && ++kept.frames >= STEADY) {
    release(kept, container);
    remember(charts[0], figures); // a run may draw a figure more than once
  }
}

function show(kept, container) {
  kept.picture = document.createElement("div");
  kept.picture.className = "kept-figure";
  kept.picture.setAttribute("aria-hidden", "true");
  for (const side of ["left", "top", "width", "height"]) kept.picture.style[side] = `${kept[side]}px`;
  if (kept.copy !== null) kept.picture.append(kept.copy);
  container.append(kept.picture);
  container.toggleAttribute("data-kept", true);
}

function release(kept, container) {
  kept.picture?.remove();
  kept.picture = null;
  container.removeAttribute("data-kept");
  container.style.minHeight = "";
}

/** Whether the figure stands there at its size: Plotly's is drawn once at another one before. */
function isDrawn(chart) {
  const drawing = chart.querySelector("svg.marks, canvas.marks, .main-svg");
  const { height } = drawing?.getBoundingClientRect() ?? { height: 0 };
  if (height === 0 || !drawing.checkVisibility({ visibilityProperty: true })) return false;
  if (drawing instanceof HTMLCanvasElement) return hasInk(drawing);
  if (chart.matches(".stPlotlyChart")) return Math.abs(height - chart.getBoundingClientRect().height) < 2;
  return drawing.querySelector("path, text, image, rect, line") !== null;
}

function hasInk(canvas) {
  const small = new OffscreenCanvas(16, 16).getContext("2d");
  small.drawImage(canvas, 0, 0, 16, 16);
  return small.getImageData(0, 0, 16, 16).data.some((value) => value > 0);
}

function copied(chart) {
  const drawing = chart.querySelector("svg.marks, canvas.marks, .svg-container");
  const copy = drawing.cloneNode(true);
  if (copy instanceof HTMLCanvasElement) copy.getContext("2d").drawImage(drawing, 0, 0);
  return copy;
}
