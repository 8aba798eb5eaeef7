// A table whose rows can be clicked. A click on a heading sorts, one on a row chooses it. All rows are one stop of Tab, and
// so are all headings: the arrow keys go from one to the next, Enter chooses. What a heading, a name or a cell means is
// shown under the pointer, at the focus of the keyboard and after a touch. A strip is a row of coloured cells; the one
// under the pointer is written out.

export default function ({ parentElement, data, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  const content = JSON.stringify(data);
  scroll.send = setTriggerValue;
  if (scroll.content === content) return; // drawn again, it would lose the focus and where it is scrolled to
  scroll.content = content;
  const focused = scroll.querySelector(":focus")?.dataset.key;
  const headings = document.createElement("tr");
  headings.append(...data.headings.map((heading) => headingCell(heading, scroll)));
  const rows = data.rows.map((row) => tableRow(row, data.headings, scroll));
  const [head, body, foot] = ["thead", "tbody", "tfoot"].map((part) => scroll.querySelector(part));
  const inPart = (name) => rows.filter((_, index) => data.rows[index].part === name);
  head.replaceChildren(headings, ...inPart("head"));
  body.replaceChildren(...inPart(undefined));
  foot.replaceChildren(...inPart("foot"));
  if (!scroll.touched) hide(tipOf(scroll)); // what it stands at is gone, and would not notice that the pointer leaves
  scroll.touched = false;
  const current = body.querySelector("[aria-current]");
  const last = focused && [...scroll.querySelectorAll("[data-key]")].find((it) => it.dataset.key === focused);
  const [titles, names] = [headings.querySelectorAll("[data-key]"), body.querySelectorAll("button")];
  oneTabStop(head, [...titles], last, { ArrowLeft: -1, ArrowRight: 1 });
  const first = body.contains(last) ? last : current?.querySelector("button");
  oneTabStop(body, [...names], first, { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 });
  if (data.reveal && current) reveal(current, scroll, head, foot);
  last?.focus({ preventScroll: true });
}

// Makes the `stops` of a part one stop of Tab, which is `first` or else the first of them; `steps` are the ways of the keys.
function oneTabStop(part, stops, first, steps) {
  const setTabStop = (index) => stops.forEach((stop, other) => (stop.tabIndex = other === index ? 0 : -1));
  setTabStop(Math.max(stops.indexOf(first), 0));
  stops.forEach((stop, index) => (stop.onfocus = () => setTabStop(index)));
  part.onkeydown = (event) => {
    const from = stops.indexOf(event.target);
    const step = { Home: -Infinity, End: Infinity, ...steps }[event.key];
    if (from < 0 || step === undefined) return;
    event.preventDefault();
    stops[Math.min(Math.max(from + step, 0), stops.length - 1)].focus();
  };
}

const tipOf = (scroll) => scroll.parentElement.querySelector(".tip");
const hide = (tip) => tip.isConnected && tip.hidePopover();

function showTip(tip, text, left, box) {
  tip.textContent = text;
  tip.showPopover();
  tip.style.left = `${Math.max(Math.min(left, window.innerWidth - tip.offsetWidth - 8), 8)}px`;
  const fits = box.bottom + 4 + tip.offsetHeight < window.innerHeight;
  tip.style.top = `${fits ? box.bottom + 4 : box.top - 4 - tip.offsetHeight}px`;
}

function explain(element, help, scroll) {
  if (!help) return element;
  const tip = tipOf(scroll);
  element.setAttribute("aria-description", help);
  const show = () => {
    const box = element.getBoundingClientRect();
    showTip(tip, help, box.left, box);
  };
  const on = (type, action) => element.addEventListener(type, action);
  on("pointerenter", ({ pointerType }) => pointerType === "mouse" && show());
  on("pointerleave", ({ pointerType }) => pointerType === "mouse" && hide(tip));
  on("focus", () => element.matches(":focus-visible") && show());
  on("blur", () => scroll.touched || hide(tip));
  on("click", ({ pointerType }) => {
    if (pointerType === "mouse") return;
    scroll.touched = pointerType === "touch"; // it stays when the table is drawn again, until something else is touched
    show();
  });
  return element;
}

function add(parent, tag, properties) {
  return parent.appendChild(Object.assign(document.createElement(tag), properties));
}

// Scrolls the table alone: the page stays where it is.
function reveal(row, scroll, head, foot) {
  const [box, seen] = [row.getBoundingClientRect(), scroll.getBoundingClientRect()];
  const [top, bottom] = [seen.top + head.offsetHeight, seen.bottom - foot.offsetHeight];
  if (box.top < top || box.bottom > bottom) scroll.scrollTop += (box.top + box.bottom - top - bottom) / 2;
}

function headingCell({ name, title, small, help = "", sorted, ends, active }, scroll) {
  const cell = Object.assign(document.createElement("th"), { scope: "col", className: name });
  cell.classList.toggle("active", active === true);
  if (sorted === undefined) {
    explain(Object.assign(cell, { textContent: title }), help, scroll);
    if (help) cell.dataset.key = `column ${name}`; // a stop of the keyboard, which can read its help there
    if (ends) {
      const legend = add(cell, "span", { className: "ends" });
      legend.append(ends[0], document.createElement("i"), ends[1]);
    }
    return cell;
  }
  cell.setAttribute("aria-sort", sorted);
  const text = title + { ascending: " ↑", descending: " ↓", none: "" }[sorted];
  const button = explain(add(cell, "button", { type: "button", textContent: text }), help, scroll);
  button.dataset.key = `column ${name}`;
  button.onclick = () => scroll.send("column", name);
  if (small) add(cell, "small", { textContent: small });
  return cell;
}

function tableRow({ key, current, cells, part }, headings, scroll) {
  const row = document.createElement("tr");
  if (current) row.setAttribute("aria-current", "true");
  if (part === undefined)
    row.onclick = () => {
      if (window.getSelection()?.toString()) return; // text was marked, to be copied
      scroll.send("row", key);
    };
  for (const it of cells) {
    const cell = add(row, it.is_header ? "th" : "td", { className: it.name });
    if (it.is_header) cell.scope = "row";
    if (it.bar !== undefined) cell.style.setProperty("--bar", it.bar);
    if (it.strip) cell.append(stripOf(it.strip, scroll));
    if (it.span) {
      const bar = add(add(cell, "span", { className: "track" }), "i", {});
      [bar.style.left, bar.style.width] = [it.span[0], it.span[1] - it.span[0]].map((share) => `${100 * share}%`);
    }
    const inner = it.is_button ? add(cell, "button", { type: "button" }) : cell;
    const help = it.is_button ? [it.help, ...termsOf(cells)].filter(Boolean).join("\n") : it.help;
    explain(inner, help, scroll);
    if (it.is_button) {
      inner.dataset.key = `row ${key}`;
      if (current) inner.setAttribute("aria-current", "true");
      inner.setAttribute("aria-description", [...numbersOf(cells, headings), help].filter(Boolean).join("\n"));
    }
    if (it.picture) add(inner, "img", { src: it.picture, alt: "" });
    if (it.text) add(inner, "span", { dir: it.is_button ? "auto" : "", textContent: it.text });
    for (const { text, help } of it.terms ?? []) explain(add(cell, "abbr", { textContent: text }), help, scroll);
    if (it.small) add(cell, "small", { textContent: it.small });
  }
  return row;
}

// What the words of a row mean, where the keyboard comes to: at the row's name.
const termsOf = (cells) => cells.flatMap((cell) => cell.terms ?? []).map(({ text, help }) => `${text}: ${help}`);

// What stands in a row, read out at its name: the arrow keys go from name to name.
const numbersOf = (cells, headings) =>
  cells.flatMap(({ text, is_button }, index) =>
    text && text !== "–" && !is_button ? [headings[index].title, text].filter(Boolean).join(": ") : [],
  );

function stripOf({ values, largest, factors }, scroll) {
  const canvas = Object.assign(document.createElement("canvas"), { width: values.length, height: 1 });
  const pen = canvas.getContext("2d");
  const colours = getComputedStyle(scroll);
  const [falls, rises] = ["--falls", "--rises"].map((name) => colours.getPropertyValue(name).trim());
  values.forEach((value, index) => {
    pen.globalAlpha = Math.min(Math.abs(value) / largest, 1);
    pen.fillStyle = value < 0 ? falls : rises;
    pen.fillRect(index, 0, 1, 1);
  });
  const order = values.map((_, index) => index).sort((one, other) => Math.abs(values[other]) - Math.abs(values[one]));
  const strongest = order.slice(0, 3).map((index) => `component ${index}: ${written(values[index])}`);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${values.length} components; the largest are ${strongest.join(", ")}`);
  const tip = tipOf(scroll);
  canvas.onpointermove = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    const index = Math.min(Math.max(Math.floor(((clientX - box.left) / box.width) * values.length), 0), values.length - 1);
    const product = (factors ?? []).map((factor) => written(Array.isArray(factor) ? factor[index] : factor)).join(" × ");
    showTip(tip, `component ${index}: ${product && `${product} = `}${written(values[index])}`, clientX + 12, box);
  };
  canvas.onpointerleave = () => hide(tip);
  return canvas;
}

const written = (number) => String(number).replace("-", "−").replace(/e(.*)/, " × 10^$1");
