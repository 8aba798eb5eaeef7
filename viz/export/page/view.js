"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [nLayers, nHeads, nQueries, nKeys] = data.shape;
const at = (id) => document.getElementById(id);
let [layer, head, query] = data.chosen;
let pointed = null; // the cell under the pointer, [query, key]
let weights, allowed = null;

// Weights: base64 of a gzip of 16-bit floats, or of bytes whose square over 255² is the weight.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function asFloats(bytes) {
  const found = new Float32Array(data.precision === "f2" ? bytes.length / 2 : bytes.length);
  if (data.precision !== "f2") {
    for (let i = 0; i < found.length; i++) found[i] = (bytes[i] / 255) ** 2;
    return found;
  }
  const table = new Float32Array(65536);
  for (let half = 0; half < 65536; half++) {
    const sign = half & 0x8000 ? -1 : 1, power = (half >> 10) & 31, part = half & 1023;
    table[half] = sign * (power === 31 ? (part ? NaN : Infinity) : power ? 2 ** (power - 15) * (1 + part / 1024) : part * 2 ** -24);
  }
  const halves = new DataView(bytes.buffer, bytes.byteOffset);
  for (let i = 0; i < found.length; i++) found[i] = table[halves.getUint16(2 * i, true)];
  return found;
}

const index = (l, h, q, k) => ((l * nHeads + h) * nQueries + q) * nKeys + k;
const isAllowed = (i) => allowed === null || (allowed[i >> 3] >> (7 - (i & 7))) & 1;

// Colours: the same table as in the app, from its other end on a dark page.
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const rgb = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
let table;
function mixColours() {
  const stops = data.colours.map(rgb);
  if (isDark()) stops.reverse();
  table = Array.from({ length: 256 }, (_, level) => {
    const place = (level / 255) * (stops.length - 1), below = Math.min(Math.floor(place), stops.length - 2);
    return stops[below].map((one, channel) => Math.round(one + (stops[below + 1][channel] - one) * (place - below)));
  });
}
const colourOf = (weight) => table[Math.round(255 * Math.min(Math.max(weight || 0, 0), 1))];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// One map as pixels, at most `most` a side: the largest of the weights that fall into one.
function picture(l, h, most) {
  const rows = Math.min(nQueries, most), columns = Math.min(nKeys, most);
  const image = new ImageData(columns, rows), top = new Float32Array(rows * columns);
  for (let q = 0; q < nQueries; q++) {
    const row = Math.floor((q * rows) / nQueries), start = index(l, h, q, 0);
    for (let k = 0; k < nKeys; k++) {
      const cell = row * columns + Math.floor((k * columns) / nKeys);
      if (weights[start + k] > top[cell]) top[cell] = weights[start + k];
    }
  }
  top.forEach((weight, cell) => image.data.set([...colourOf(weight), 255], 4 * cell));
  return image;
}

function node(kind, text, classes) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (classes) made.className = classes;
  return made;
}

// The overview: a grid of buttons of which one is reached by Tab, and arrow keys move on.
const tiles = [];
function buildOverview() {
  const grid = at("overview"), side = Math.max(30, Math.min(76, Math.floor(460 / nHeads)));
  grid.style.gridTemplateColumns = `2.2rem repeat(${nHeads}, ${side}px)`;
  const names = node("div", undefined, "row");
  names.setAttribute("role", "row");
  names.append(node("span"));
  for (let h = 0; h < nHeads; h++) names.append(node("span", `H${h}`));
  grid.append(names);
  for (let l = 0; l < nLayers; l++) {
    const row = node("div", undefined, "row");
    row.setAttribute("role", "row");
    row.append(node("span", `L${l}`));
    for (let h = 0; h < nHeads; h++) {
      const button = node("button"), canvas = node("canvas");
      button.type = "button";
      button.setAttribute("role", "gridcell");
      button.setAttribute("aria-label", `Layer ${l}, head ${h}`);
      button.title = `L${l} H${h}`;
      button.addEventListener("click", () => choose(l, h, query));
      button.append(canvas);
      row.append(button);
      tiles.push({ button, canvas, l, h });
    }
    grid.append(row);
  }
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    choose((layer + step[0] + nLayers) % nLayers, (head + step[1] + nHeads) % nHeads, query);
    tiles[layer * nHeads + head].button.focus();
  });
}

function paintOverview() {
  for (const { canvas, l, h } of tiles) {
    const image = picture(l, h, 64);
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
  const bar = at("legend").querySelector("canvas"), levels = new ImageData(256, 1);
  table.forEach((colour, level) => levels.data.set([...colour, 255], 4 * level));
  bar.getContext("2d").putImageData(levels, 0, 0);
}

// One head, in squares; names beside them where there is room.
let cell = 1, left = 0, above = 0;
function paintMap() {
  const canvas = at("map"), pen = canvas.getContext("2d"), most = Math.max(nQueries, nKeys);
  cell = Math.max(1, Math.min(26, Math.floor(Math.min(620, innerWidth - 190) / most)));
  const named = cell >= 11, font = `${Math.min(13, cell - 1)}px ui-monospace, "DejaVu Sans Mono", monospace`;
  pen.font = font;
  const widest = (words) => (named ? Math.min(130, Math.ceil(Math.max(0, ...words.map((word) => pen.measureText(shown(word)).width)))) + 6 : 2);
  left = widest(data.queries);
  above = widest(data.keys);
  const width = left + cell * nKeys + 2, height = above + cell * nQueries + 2, sharp = devicePixelRatio || 1;
  canvas.width = width * sharp;
  canvas.height = height * sharp;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  pen.scale(sharp, sharp);
  const image = picture(layer, head, Infinity), pixels = node("canvas");
  pixels.width = nKeys;
  pixels.height = nQueries;
  pixels.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixels, left, above, cell * nKeys, cell * nQueries);
  if (allowed) hatch(pen);
  pen.fillStyle = css("--ink");
  pen.font = font;
  if (named) {
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    data.queries.forEach((word, q) => pen.fillText(shown(word), left - 4, above + (q + 0.5) * cell, left - 6));
    pen.textAlign = "left";
    data.keys.forEach((word, k) => {
      pen.save();
      pen.translate(left + (k + 0.5) * cell, above - 4);
      pen.rotate(-Math.PI / 2);
      pen.fillText(shown(word), 0, 0, above - 6);
      pen.restore();
    });
  }
  pen.strokeStyle = css("--line");
  pen.strokeRect(left, above, cell * nKeys, cell * nQueries);
  pen.strokeStyle = css("--accent");
  pen.lineWidth = cell > 4 ? 2 : 1;
  pen.strokeRect(left, above + query * cell, cell * nKeys, cell);
}

function hatch(pen) {
  pen.strokeStyle = data.masked;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let q = 0; q < nQueries; q++) {
    for (let k = 0; k < nKeys; k++) {
      if (isAllowed(index(layer, head, q, k))) continue;
      const x = left + k * cell, y = above + q * cell;
      pen.moveTo(x, y + cell);
      pen.lineTo(x + cell, y);
    }
  }
  pen.stroke();
}

// What no letter is drawn for, as ␣; between the two marks of direction, that of a word ends with it.
const shown = (word) => `\u2068${word.replace(/[\s\p{Cc}]/gu, "␣") || "␣"}\u2069`;

// The input: tokens as buttons in the colours of the chosen query, or the picture with its patches.
const tokens = [];
let canvasOfPicture = null;
function buildInput() {
  const place = at("read");
  if (data.grid && data.picture) {
    place.classList.add("picture");
    canvasOfPicture = node("canvas");
    canvasOfPicture.setAttribute("role", "img");
    canvasOfPicture.setAttribute("aria-label", "The picture, over the attention of the chosen query to its patches");
    canvasOfPicture.addEventListener("click", (event) => {
      const box = canvasOfPicture.getBoundingClientRect(), [rows, columns] = data.grid;
      const row = Math.floor(((event.clientY - box.top) / box.height) * rows), column = Math.floor(((event.clientX - box.left) / box.width) * columns);
      choose(layer, head, Math.min(Math.max(data.firstPatch + row * columns + column, 0), nQueries - 1));
    });
    place.append(canvasOfPicture);
    const image = new Image();
    image.onload = () => { canvasOfPicture.image = image; paintInput(); };
    image.src = data.picture;
    return;
  }
  place.classList.add("tokens");
  if (nQueries !== nKeys) return;
  data.keys.forEach((word, position) => {
    const button = node("button", shown(word));
    button.type = "button";
    button.addEventListener("click", () => choose(layer, head, position));
    place.append(button);
    tokens.push(button);
  });
}

function paintInput() {
  const row = index(layer, head, query, 0);
  tokens.forEach((button, position) => {
    const weight = weights[row + position], colour = colourOf(weight);
    button.style.background = `rgb(${colour.join(",")})`;
    const bright = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 140;
    button.style.color = bright ? "#1a1c24" : "#fafafa";
    button.setAttribute("aria-pressed", position === query);
    button.setAttribute("aria-label", `${shown(data.keys[position])}, position ${position}, weight ${written(weight)}`);
  });
  at("reading").textContent = canvasOfPicture || tokens.length ? `Coloured by the attention of query ${query}, ${shown(data.queries[query])}.` : "";
  if (!canvasOfPicture || !canvasOfPicture.image) return;
  const pen = canvasOfPicture.getContext("2d"), [rows, columns] = data.grid, image = canvasOfPicture.image;
  canvasOfPicture.width = 448;
  canvasOfPicture.height = Math.round((448 * image.height) / image.width);
  const { width, height } = canvasOfPicture;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, 0, 0, width, height);
  for (let patch = 0; patch < rows * columns; patch++) {
    const x = ((patch % columns) * width) / columns, y = (Math.floor(patch / columns) * height) / rows;
    pen.globalAlpha = 0.6;
    pen.fillStyle = `rgb(${colourOf(weights[row + data.firstPatch + patch]).join(",")})`;
    pen.fillRect(x, y, width / columns, height / rows);
    pen.globalAlpha = 1;
    if (data.firstPatch + patch !== query) continue;
    pen.strokeStyle = data.accent;
    pen.lineWidth = 5;
    pen.strokeRect(x + 2, y + 2, width / columns - 4, height / rows - 4);
  }
}

const written = (weight) => (weight === 0 || weight >= 0.001 ? weight.toFixed(3) : weight.toExponential(1));

function paintWords() {
  at("one").textContent = `Layer ${layer}, head ${head}`;
  const row = index(layer, head, query, 0);
  let key = 0;
  for (let k = 1; k < nKeys; k++) if (weights[row + k] > weights[row + key]) key = k;
  const [q, k] = pointed || [query, key], place = index(layer, head, q, k);
  const said = isAllowed(place) ? written(weights[place]) : "masked";
  at("said").textContent = `${pointed ? "" : "largest: "}query ${q} ${shown(data.queries[q])} → key ${k} ${shown(data.keys[k])}: ${said}`;
}

function choose(l, h, q) {
  [layer, head, query] = [l, h, q];
  pointed = null;
  for (const tile of tiles) {
    const isChosen = tile.l === layer && tile.h === head;
    tile.button.setAttribute("aria-selected", isChosen);
    tile.button.tabIndex = isChosen ? 0 : -1;
  }
  paintMap();
  paintInput();
  paintWords();
}

function cellAt(event) {
  const box = at("map").getBoundingClientRect();
  const q = Math.floor((event.clientY - box.top - above) / cell), k = Math.floor((event.clientX - box.left - left) / cell);
  return q >= 0 && q < nQueries && k < nKeys ? [q, k] : null;
}

function listen() {
  at("map").addEventListener("mousemove", (event) => {
    const found = cellAt(event);
    pointed = found && found[1] >= 0 ? found : null;
    paintWords();
  });
  at("map").addEventListener("mouseleave", () => { pointed = null; paintWords(); });
  at("map").addEventListener("click", (event) => {
    const found = cellAt(event);
    if (found) choose(layer, head, found[0]);
  });
  at("stage").addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(layer, head, (query + step + nQueries) % nQueries);
  });
  const switches = document.querySelectorAll("[data-theme]");
  const mark = () => switches.forEach((each) => each.tagName === "BUTTON" && each.setAttribute("aria-pressed", each.dataset.theme === (document.documentElement.dataset.theme || "")));
  document.querySelectorAll("button[data-theme]").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.theme) document.documentElement.dataset.theme = button.dataset.theme;
    else delete document.documentElement.dataset.theme;
    mark();
    repaint();
  }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  addEventListener("resize", () => paintMap());
  mark();
}

function repaint() {
  mixColours();
  paintOverview();
  choose(layer, head, query);
}

function buildWords() {
  for (const [name, value] of data.settings) at("settings").append(node("dt", name), node("dd", value));
  const classes = data.classes.slice().sort((one, other) => other[1] - one[1]), first = classes.slice(0, 5);
  if (classes.length > 5) first.push([`${classes.length - 5} others together`, classes.slice(5).reduce((sum, each) => sum + each[1], 0)]);
  for (const [name, share] of first) {
    const meter = node("meter");
    meter.value = share;
    meter.setAttribute("aria-hidden", "true");
    at("answer").append(node("bdi", name), meter, node("span", `${(100 * share).toFixed(1)} %`));
  }
  const ends = node("div");
  ends.append(node("span", "0"), node("span", "1"));
  const most = Math.ceil(Math.max(nQueries, nKeys) / 64);
  at("legend").append(node("canvas"), ends, node("p", data.what + (most > 1 ? `; each pixel is the largest of up to ${most} × ${most}` : "")));
  Object.assign(at("legend").firstChild, { width: 256, height: 1 });
}

(async () => {
  weights = asFloats(await unpacked(data.weights));
  if (data.mask) allowed = await unpacked(data.mask);
  buildWords();
  buildOverview();
  buildInput();
  listen();
  repaint();
  document.documentElement.dataset.ready = "true";
})();
