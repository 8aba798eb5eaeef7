// Draws the figure of a page in the frame of a notebook, by Vega or Plotly, in the notebook's light or dark.

const given = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const figure = document.getElementById("figure");
const dark = matchMedia("(prefers-color-scheme: dark)");
const BESIDE = 50; // pixels beside a chart of Vega, for its menu
let drawn = null;
let drawing = Promise.resolve();

// Puts the library, the base64 of a gzip, into the page.
async function loadLibrary() {
  const content = Uint8Array.from(atob(given.library), (letter) => letter.charCodeAt(0));
  const stream = new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

// The rows of a table of columns, as Vega takes them.
function rows(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, row) => Object.fromEntries(names.map((name) => [name, columns[name][row]])));
}

async function drawVega({ specification, columns, takesWidth, configs }, theme) {
  const datasets = Object.fromEntries(Object.entries(columns).map(([name, table]) => [name, rows(table)]));
  const width = takesWidth ? { width: root.clientWidth - BESIDE } : {};
  drawn?.finalize();
  drawn = await embedChart(figure, { ...specification, ...width, datasets }, configs[theme], {
    actions: { export: true, source: false, compiled: false, editor: false },
    defaultStyle: true,
    tooltip: { theme },
  });
}

async function draw() {
  const theme = dark.matches ? "dark" : "light";
  document.body.style.background = given.pages[theme];
  if (given.vega) await drawVega(given.vega, theme);
  else {
    const layout = { ...given.plotly.layout, template: given.templates[theme] };
    await Plotly.react(figure, given.plotly.data, layout, { responsive: true, displaylogo: false });
  }
  root.dataset.theme = theme;
  root.dataset.ready = "true";
}

const redraw = () => (drawing = drawing.then(draw));

(async () => {
  await loadLibrary();
  await redraw();
  dark.addEventListener("change", redraw);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    // The frame is as high as what it holds, where the notebook lets it.
    if (frameElement) frameElement.style.height = `${document.body.offsetHeight}px`;
    if (given.vega?.takesWidth && width !== root.clientWidth) redraw();
    width = root.clientWidth;
  }).observe(document.body);
})();
