// Painting a digit on 28×28 pixels. Python holds the drawing (784 hexadecimal digits, one a pixel); this
// paints it, changes it under the pen, and sends it back when the pen is lifted.

const SIDE = 28;
const RADIUS = 0.9; // of the solid stroke, in pixels: MNIST's strokes are two to three wide
const SOFT = 1.1; // the width of its soft edge

export default function ({ data, parentElement, setTriggerValue }) {
  const canvas = parentElement.querySelector("canvas");
  // Streamlit calls this again in the same place whenever `data` changes, so what must last is kept there.
  const state = (canvas.state ??= { ink: new Float32Array(SIDE * SIDE), pen: null, sent: null });

  // What was sent comes back as data, perhaps when the next stroke has begun. Until then data is old news.
  if (data.pixels === state.sent) {
    state.sent = null;
  } else if (state.sent === null && state.pen === null) {
    state.ink = Float32Array.from(data.pixels, (level) => parseInt(level, 16) / 15);
  }
  state.pixels = data.pixels;
  paint(canvas, state.ink);

  canvas.onpointerdown = (event) => {
    if (event.button !== 0 || !event.isPrimary) return; // a second finger draws nothing
    canvas.setPointerCapture(event.pointerId);
    state.pen = place(canvas, event);
    stroke(state.ink, state.pen, state.pen);
    paint(canvas, state.ink);
  };
  canvas.onpointermove = (event) => {
    if (state.pen === null || !event.isPrimary) return;
    for (const moment of event.getCoalescedEvents?.() ?? [event]) {
      const next = place(canvas, moment);
      stroke(state.ink, state.pen, next);
      state.pen = next;
    }
    paint(canvas, state.ink);
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => {
    if (state.pen === null || !event.isPrimary) return;
    state.pen = null;
    const drawn = Array.from(state.ink, (ink) => Math.round(ink * 15).toString(16)).join("");
    if (drawn === state.pixels) return; // no news, and so no answer that would clear what was sent
    state.sent = drawn;
    setTriggerValue("drawn", state.sent);
  };
}

/** Where the pointer is, in pixels of the drawing. */
function place(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return {
    x: ((event.clientX - box.left) / box.width) * SIDE,
    y: ((event.clientY - box.top) / box.height) * SIDE,
  };
}

/** Inks every pixel by its centre's distance from the line between two places. */
function stroke(ink, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const [x, y] = [column + 0.5 - from.x, row + 0.5 - from.y];
      const along = length ? Math.min(1, Math.max(0, (x * dx + y * dy) / length)) : 0;
      const distance = Math.hypot(x - along * dx, y - along * dy);
      const strength = Math.min(1, Math.max(0, 1 - (distance - RADIUS) / SOFT));
      ink[row * SIDE + column] = Math.max(ink[row * SIDE + column], strength);
    }
  }
}

function paint(canvas, ink) {
  const image = new ImageData(SIDE, SIDE);
  ink.forEach((strength, pixel) => {
    const grey = Math.round(strength * 15) * 17;
    image.data.set([grey, grey, grey, 255], pixel * 4);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.nextElementSibling.hidden = ink.some((strength) => strength > 0);
}
