// A table whose rows can be clicked. A click on a heading sorts, one on a row chooses it. The arrow keys go from row to
// row, Enter chooses, and all rows are one stop of Tab.

export default function ({ parentElement, data, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  const content = JSON.stringify(data);
  scroll.send = setTriggerValue;
  if (scroll.content === content) return; // drawn again, it would lose the focus and where it is scrolled to
  scroll.content = content;
  const focused = scroll.querySelector(":focus")?.dataset.key;
  const headings = document.createElement("tr");
  headings.append(...data.headings.map((heading) => headingCell(heading, scroll)));
  scroll.querySelector("thead").replaceChildren(headings);
  const body = scroll.querySelector("tbody");
  const rows = data.rows.map((row) => tableRow(row, scroll));
  body.replaceChildren(...rows);
  const buttons = [...body.querySelectorAll("button")];
  const current = data.rows.findIndex((row) => row.current);
  const setTabStop = (index) => buttons.forEach((button, other) => (button.tabIndex = other === index ? 0 : -1));
  setTabStop(Math.max(current, 0));
  if (data.reveal && current > 0) rows[current].scrollIntoView({ block: "nearest" });
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

function headingCell({ name, title, help = "", sorted }, scroll) {
  const cell = Object.assign(document.createElement("th"), { scope: "col", className: name });
  if (sorted === undefined) return Object.assign(cell, { textContent: title, title: help });
  cell.setAttribute("aria-sort", sorted);
  const text = title + { ascending: " ↑", descending: " ↓", none: "" }[sorted];
  const button = add(cell, "button", { type: "button", title: help, textContent: text });
  button.dataset.key = `column ${name}`;
  button.onclick = () => scroll.send("column", name);
  return cell;
}

function tableRow({ key, current, cells }, scroll) {
  const row = document.createElement("tr");
  if (current) row.setAttribute("aria-current", "true");
  row.onclick = () => {
    if (window.getSelection()?.toString()) return; // text was marked, to be copied
    scroll.send("row", key);
  };
  for (const it of cells) {
    const cell = add(row, it.is_header ? "th" : "td", { className: it.name });
    if (it.is_header) cell.scope = "row";
    if (it.bar !== undefined) cell.style.setProperty("--bar", it.bar);
    const title = it.help ?? "";
    const inner = it.is_button ? add(cell, "button", { type: "button", title }) : Object.assign(cell, { title });
    if (it.is_button) inner.dataset.key = `row ${key}`;
    if (it.picture) add(inner, "img", { src: it.picture, alt: "" });
    add(inner, "span", { dir: it.is_button ? "auto" : "", textContent: it.text });
    for (const { text, help } of it.terms ?? []) add(cell, "abbr", { textContent: text, title: help });
    if (it.small) add(cell, "small", { textContent: it.small });
  }
  return row;
}
