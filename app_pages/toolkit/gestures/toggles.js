// A figure whose marks a click turns on or off, such as the cells of a board. What is on is counted here, and each message
// names all of it: if a busy server hears of the last of several clicks alone, it hears of all.
//
// What a click changes is seen at once, on a sheet over the figure, until the server's figure has taken its place: the mark is
// hatched or framed, and of a board the whole row gets the weights that remain.
//
// A mark is known by its number in reading order, which stays when the figure is drawn anew, even between press and release.

const STILL = 4; // pixels: what moves further is no click
const ANSWER = 60000; // ms in which the server answers; what it says before is older than the last click
const MARKS = ".role-mark > [aria-label]";
const SHEET = "clicked-marks";
const MORE = "button, a, input, summary"; // such as the button of the download, which lies on the figure

const figures = new Map(); // by key: what is on, and how to tell
const listening = new WeakMap(); // by component: it is called again when what is on changes
let press = null; // the figure and the number of the mark that is pressed

// The boxes of all marks in reading order, in the figure or in its picture that is shown while it is drawn anew.
function boxesOf(container) {
  const boxes = [container.querySelector(".kept-figure"), container]
    .map((place) => [...(place?.querySelectorAll(MARKS) ?? [])].map((mark) => mark.getBoundingClientRect()))
    .find((marks) => marks.length > 0);
  const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  return (boxes ?? []).sort((one, other) => {
    const [[x1, y1], [x2, y2]] = [middle(one), middle(other)];
    return Math.abs(y1 - y2) > 3 ? y1 - y2 : x1 - x2;
  });
}

// The number of the mark at this point; -1 if none.
function markAt(container, { clientX: x, clientY: y }) {
  return boxesOf(container).findLastIndex(
    ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom,
  );
}

function update(data, report) {
  const known = figures.get(data.figure);
  const isNew = known?.stamp !== data.stamp;
  const isOld = !isNew && data.answered < known.sent && Date.now() - known.sentAt < ANSWER;
  const on = isOld ? known.on : new Set(data.on);
  const sent = isNew ? data.answered : known.sent;
  const { figure: key, stamp, rows } = data;
  figures.set(key, { key, stamp, on, sent, sentAt: known?.sentAt ?? 0, report, rows, drawn: new Set(data.on) });
  if (!isOld) removeWhenDrawn(figures.get(key));
}

const containerOf = ({ key }) => document.querySelector(`.st-key-${key}`);
const sheetOf = (figure) => containerOf(figure)?.querySelector(`:scope > .${SHEET}`);

// Draws the marks that differ from the server's figure on the sheet, and with them the rows in which they are.
function drawSheet(figure) {
  const { on, drawn, rows } = figure;
  sheetOf(figure)?.remove();
  const container = containerOf(figure);
  const boxes = boxesOf(container);
  const changed = boxes.map((_, number) => number).filter((number) => on.has(number) !== drawn.has(number));
  const sheet = Object.assign(document.createElement("div"), { className: SHEET, ariaHidden: "true" });
  const { left, top } = container.getBoundingClientRect();
  const add = (number, style) => {
    const box = boxes[number];
    const element = document.createElement("div");
    const place = { left: box.left - left, top: box.top - top, width: box.width, height: box.height };
    for (const [side, length] of Object.entries(place)) element.style[side] = `${length}px`;
    sheet.append(Object.assign(element, { className: style.className }));
    Object.assign(element.style, style);
  };
  if (rows === null) changed.forEach((number) => add(number, { className: on.has(number) ? "on" : "off" }));
  const n = rows?.scores.length;
  const colours = rows && (isDark(container) ? [...rows.colours].reverse() : rows.colours);
  for (const query of rows ? new Set(changed.map((number) => Math.floor(number / n))) : []) {
    const allowed = rows.allowed[query].map((is, key) => is && !on.has(n * query + key));
    maskedRow(rows.scores[query], allowed).forEach((weight, key) => {
      const className = `cell${allowed[key] ? "" : " on"}${rows.exact ? "" : " guess"}`;
      const backgroundColor = weight > 0 ? between(colours, weight / rows.largest) : "";
      add(n * query + key, { className, backgroundColor });
      sheet.lastChild.dataset.weight = weight;
    });
  }
  container.append(sheet);
}

// Once the server has answered: the sheet goes when its figure stands there.
function removeWhenDrawn(figure) {
  const app = document.querySelector("[data-testid=stApp]");
  let frames = 0;
  const inFrame = () => {
    const container = containerOf(figure);
    if (figures.get(figure.key) !== figure || container === null) return;
    const isDrawn = app.dataset.testScriptState === "notRunning" && container.querySelector(".kept-figure") === null;
    frames = isDrawn ? frames + 1 : 0;
    if (frames > 2 && figure.on.size === figure.drawn.size && figure.on.isSubsetOf(figure.drawn)) sheetOf(figure)?.remove();
    else if (frames <= 2) requestAnimationFrame(inFrame);
  };
  if (sheetOf(figure)) inFrame();
}

function turn(key, number) {
  const figure = figures.get(key);
  if (!figure.on.delete(number)) figure.on.add(number);
  figure.sent += 1;
  figure.sentAt = Date.now();
  drawSheet(figure);
  figure.report({ on: [...figure.on], number: figure.sent, stamp: figure.stamp });
}

export default function ({ data, setTriggerValue, parentElement }) {
  update(data, (on) => setTriggerValue("on", on));
  listening.get(parentElement)?.abort();
  const down = (event) => {
    const container = event.target.closest?.(`.st-key-${data.figure}`);
    if (container == null) return;
    const isOnMore = event.button !== 0 || event.target.closest(MORE);
    press = { key: data.figure, number: isOnMore ? -1 : markAt(container, event), event };
  };
  const up = (event) => {
    if (press?.key !== data.figure) return;
    const isStill = Math.hypot(event.clientX - press.event.clientX, event.clientY - press.event.clientY) <= STILL;
    if (isStill && press.number >= 0) turn(press.key, press.number);
    press = null;
  };
  const listens = new AbortController();
  listening.set(parentElement, listens);
  window.addEventListener("pointerdown", down, { capture: true, signal: listens.signal });
  window.addEventListener("pointerup", up, { capture: true, signal: listens.signal });
  return () => listens.abort();
}
