// A table whose rows open something. The arrow keys go from row to row, Enter opens, and all of it is one stop of Tab.

export default function ({ parentElement, data, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  const said = JSON.stringify(data);
  scroll.open = (number) => setTriggerValue("opened", number);
  if (scroll.said === said) return; // drawn again, it would lose the focus and where it is scrolled to
  scroll.said = said;
  scroll.querySelector("thead").replaceChildren(headOf(data));
  const body = scroll.querySelector("tbody");
  const rows = data.rows.map((row) => rowOf(row, data, scroll));
  body.replaceChildren(...rows);
  const buttons = [...body.querySelectorAll("button")];
  const opened = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const tabStop = (at) => buttons.forEach((button, each) => (button.tabIndex = each === at ? 0 : -1));
  tabStop(Math.max(opened, 0));
  if (opened > 0) rows[opened].scrollIntoView({ block: "nearest" });
  body.onkeydown = (event) => {
    const at = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last, PageUp: at - 10, PageDown: at + 10 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(to, 0), last);
    tabStop(next);
    buttons[next].focus();
  };
}

function headOf({ head, explained }) {
  const row = document.createElement("tr");
  for (const name of head) {
    const cell = row.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = name;
  }
  row.lastChild.title = explained;
  return row;
}

function rowOf(row, data, scroll) {
  const line = document.createElement("tr");
  if (row.number === data.opened) line.setAttribute("aria-current", "true");
  line.onclick = () => {
    if (window.getSelection()?.toString()) return; // text was marked, to be copied
    scroll.open(row.number);
  };
  cellOf(line, "number", row.shown);
  const input = cellOf(line, "input");
  const button = input.appendChild(document.createElement("button"));
  button.type = "button";
  button.title = row.title;
  if (row.picture) {
    const picture = button.appendChild(document.createElement("img"));
    picture.src = row.picture;
    picture.alt = "";
  }
  const name = button.appendChild(document.createElement("span"));
  name.dir = "auto";
  name.textContent = row.name;
  if (row.note) input.appendChild(Object.assign(document.createElement("small"), { textContent: row.note }));
  if ("unknown" in row) cellOf(line, "unknown", row.unknown);
  const answer = cellOf(line, "answer", row.said);
  if (row.probability) {
    answer.appendChild(Object.assign(document.createElement("small"), { textContent: row.probability }));
  }
  if ("right" in row) {
    const verdict = { true: "✓ ", false: "✗ " }[row.right] ?? (row.label ? "? " : "");
    const cell = cellOf(line, row.right === false ? "wrong" : "right", verdict + row.label);
    cell.title = { true: "as predicted", false: "the prediction is wrong" }[row.right] ?? (row.label && "not a class of this encoder");
  }
  if ("surprise" in row) cellOf(line, "surprise", row.surprise);
  return line;
}

function cellOf(line, name, text = "") {
  const cell = line.appendChild(document.createElement("td"));
  cell.className = name;
  cell.textContent = text;
  return cell;
}
