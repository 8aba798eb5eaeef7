// Starts the chart of `linked_heads.py` and the tokens of `linked_heads.js`, which stands before this in the page.

const given = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
let theme = ""; // of the system, until one is chosen
let drawing = Promise.resolve();
let chart = null;

// Whole numbers: base64 of a gzip of them, 16 bits each or, in `bytes`, the upper 8 of them.
async function unpacked({ packed, bytes }) {
  const content = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  return bytes ? Uint16Array.from(new Uint8Array(buffer), (byte) => 257 * byte) : new Uint16Array(buffer);
}

// The rows of a table of columns, as Vega takes them.
function rows(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, row) => Object.fromEntries(names.map((name) => [name, columns[name][row]])));
}

function showTokens() {
  // A choice has no server to go to: it is kept here.
  const keep = (_, { layer, head, query, number }) => {
    given.script = { ...given.script, kept: { layer, head, query }, answered: number };
  };
  linkedHeads({ data: given.script, parentElement: document, setTriggerValue: keep });
}

async function draw() {
  const shown = theme || (darkSystem.matches ? "dark" : "light");
  root.dataset.theme = shown;
  for (const button of document.querySelectorAll(".theme button"))
    button.setAttribute("aria-pressed", button.value === theme);
  showTokens();
  chart?.finalize();
  const datasets = Object.fromEntries(Object.entries(given.datasets).map(([name, columns]) => [name, rows(columns)]));
  chart = await embedChart("#chart", { ...given.specification, datasets }, given.configs[shown]);
  showTokens(); // the new chart hears what is chosen
  root.dataset.ready = "true";
}

const redraw = () => (drawing = drawing.then(draw));

(async () => {
  for (const [name, value] of Object.entries(given.script))
    if (value?.packed) given.script[name] = await unpacked(value);
  document.querySelector(".theme").addEventListener("click", (event) => {
    if (event.target.value === undefined) return;
    theme = event.target.value;
    redraw();
  });
  darkSystem.addEventListener("change", redraw);
  redraw();
})();
