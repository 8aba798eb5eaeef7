// A table whose rows can be clicked. A click on a heading sorts, one on a row chooses it. The arrow keys go from row to
// row, Enter chooses, and all rows are one stop of Tab. A strip is a row of coloured cells; the one under the pointer is
// written out.

export default function ({ parentElement, data, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  const content = JSON.stringify(data);
  scroll.send = setTriggerValue;
  if (scroll.content === content) return; // drawn again, it would lose the focus and where it is scrolled to
  scroll.content = content;
  const focused = scroll.querySelector(":focus")?.dataset.key;
  const headings = document.createElement("tr");
  headings.append(...data.headings.map((heading) => headingCell(heading, scroll)));
  const rows = data.rows.map((row) => tableRow(row, scroll));
  const [head, body, foot] = ["thead", "tbody", "tfoot"].map((part) => scroll.querySelector(part));
  const inPart = (name) => rows.filter((_, index) => data.rows[index].part === name);
  head.replaceChildren(headings, ...inPart("head"));
  body.replaceChildren(...inPart(undefined));
  foot.replaceChildren(...inPart("foot"));
  scroll.parentElement.querySelector(".tip").hidden = true;
  const buttons = [...body.querySelectorAll("button")];
  const current = body.querySelector("[aria-current]");
  const setTabStop = (index) => buttons.forEach((button, other) => (button.tabIndex = other === index ? 0 : -1));
  setTabStop(Math.max(buttons.indexOf(current?.querySelector("button")), 0));
  if (data.reveal && current) reveal(current, scroll, head, foot);
  if (focused) [...scroll.querySelectorAll("button")].find((it) => it.dataset.key === focused)?.focus({ preventScroll: true });
  body.onkeydown = (event) => {
    const from = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = { ArrowUp: from - 1, ArrowDown: from + 1, Home: 0, End: last, PageUp: from - 10, PageDown: from + 10 }[event.key];
    if (from < 0 || to === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(to, 0), last);
    setTabStop(next);
    buttons[next].focus();
  };
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

function headingCell({ name, title, help = "", sorted, ends, active }, scroll) {
  const cell = Object.assign(document.createElement("th"), { scope: "col", className: name });
  cell.classList.toggle("active", active === true);
  if (sorted === undefined) {
    Object.assign(cell, { textContent: title, title: help });
    if (ends) {
      const legend = add(cell, "span", { className: "ends" });
      legend.append(ends[0], document.createElement("i"), ends[1]);
    }
    return cell;
  }
  cell.setAttribute("aria-sort", sorted);
  const text = title + { ascending: " ↑", descending: " ↓", none: "" }[sorted];
  const button = add(cell, "button", { type: "button", title: help, textContent: text });
  button.dataset.key = `column ${name}`;
  button.onclick = () => scroll.send("column", name);
  return cell;
}

function tableRow({ key, current, cells, part }, scroll) {
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
    const title = it.help ?? "";
    const inner = it.is_button ? add(cell, "button", { type: "button", title }) : Object.assign(cell, { title });
    if (it.is_button) inner.dataset.key = `row ${key}`;
    if (it.picture) add(inner, "img", { src: it.picture, alt: "" });
    if (it.text) add(inner, "span", { dir: it.is_button ? "auto" : "", textContent: it.text });
    for (const { text, help } of it.terms ?? []) add(cell, "abbr", { textContent: text, title: help });
    if (it.small) add(cell, "small", { textContent: it.small });
  }
  return row;
}

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
  const tip = scroll.parentElement.querySelector(".tip");
  canvas.onpointermove = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    const index = Math.min(Math.max(Math.floor(((clientX - box.left) / box.width) * values.length), 0), values.length - 1);
    const product = (factors ?? []).map((factor) => written(Array.isArray(factor) ? factor[index] : factor)).join(" × ");
    tip.textContent = `component ${index}: ${product && `${product} = `}${written(values[index])}`;
    tip.hidden = false;
    tip.style.left = `${Math.min(clientX + 12, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${box.bottom + 4}px`;
  };
  canvas.onpointerleave = () => (tip.hidden = true);
  return canvas;
}

const written = (number) => String(number).replace("-", "−").replace(/e(.*)/, " × 10^$1");
