// A figure whose marks a click turns on or off, such as the cells of a board. What is on is counted here, and each message
// names all of it: if a busy server hears of the last of several clicks alone, it hears of all.
//
// A mark is known by its number in reading order, which stays when the figure is drawn anew, even between press and release.

const STILL = 4; // pixels: what moves further is no click
const ANSWER = 60000; // ms in which the server answers; what it says before is older than the last click
const MARKS = ".role-mark > [aria-label]";
const MORE = "button, a, input, summary"; // such as the button of the download, which lies on the figure

const figures = new Map(); // by key: what is on, and how to tell
const listening = new WeakMap(); // by component: it is called again when what is on changes
let press = null; // the figure and the number of the mark that is pressed

// The number of the mark at this point, in the figure or in its picture that is shown while it is drawn anew; -1 if none.
function markAt(container, { clientX: x, clientY: y }) {
  const boxes = [container.querySelector(".kept-figure"), container]
    .map((place) => [...(place?.querySelectorAll(MARKS) ?? [])].map((mark) => mark.getBoundingClientRect()))
    .find((marks) => marks.length > 0);
  const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  const inOrder = (boxes ?? []).sort((one, other) => {
    const [[x1, y1], [x2, y2]] = [middle(one), middle(other)];
    return Math.abs(y1 - y2) > 3 ? y1 - y2 : x1 - x2;
  });
  return inOrder.findLastIndex(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
}

function update(data, report) {
  const known = figures.get(data.figure);
  const isNew = known?.stamp !== data.stamp;
  const isOld = !isNew && data.answered < known.sent && Date.now() - known.sentAt < ANSWER;
  const on = isOld ? known.on : new Set(data.on);
  const sent = isNew ? data.answered : known.sent;
  figures.set(data.figure, { stamp: data.stamp, on, sent, sentAt: known?.sentAt ?? 0, report });
}

function turn(key, number) {
  const figure = figures.get(key);
  if (!figure.on.delete(number)) figure.on.add(number);
  figure.sent += 1;
  figure.sentAt = Date.now();
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
