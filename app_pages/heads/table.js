// A table of heads. A click on a heading sorts, one on a row chooses its head. The arrow keys go from row to row, Enter
// chooses, and all rows are one stop of Tab.

export default function ({ parentElement, data, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  const said = JSON.stringify(data);
  scroll.choose = (head) => setTriggerValue("chosen", head);
  scroll.sort = (column) => setTriggerValue("sorted", column);
  if (scroll.said === said) return; // drawn again, it would lose the focus and where it is scrolled to
  const held = parentElement.ownerDocument.activeElement && scroll.querySelector(":focus")?.dataset.of;
  scroll.said = said;
  scroll.querySelector("thead").replaceChildren(headOf(data, scroll));
  const body = scroll.querySelector("tbody");
  const rows = data.rows.map((row) => rowOf(row, scroll));
  body.replaceChildren(...rows);
  const buttons = [...body.querySelectorAll("button")];
  const chosen = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const tabStop = (at) => buttons.forEach((button, each) => (button.tabIndex = each === at ? 0 : -1));
  tabStop(Math.max(chosen, 0));
  if (held) [...scroll.querySelectorAll("button")].find((button) => button.dataset.of === held)?.focus({ preventScroll: true });
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

function headOf({ head }, scroll) {
  const row = document.createElement("tr");
  for (const { name, title, explained, sorted } of head) {
    const cell = row.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.className = name;
    cell.setAttribute("aria-sort", sorted);
    if (name === "roles") {
      cell.textContent = title;
      cell.title = explained;
      continue;
    }
    const button = cell.appendChild(document.createElement("button"));
    button.type = "button";
    button.title = explained;
    button.dataset.of = `column ${name}`;
    button.textContent = title + { ascending: " ↑", descending: " ↓", none: "" }[sorted];
    button.onclick = () => scroll.sort(name);
  }
  return row;
}

function rowOf(row, scroll) {
  const line = document.createElement("tr");
  if (row.chosen) line.setAttribute("aria-current", "true");
  line.onclick = () => {
    if (window.getSelection()?.toString()) return; // numbers were marked, to be copied
    scroll.choose([row.layer, row.head]);
  };
  const name = line.appendChild(document.createElement("th"));
  name.scope = "row";
  name.className = "head";
  const button = name.appendChild(document.createElement("button"));
  button.type = "button";
  button.dataset.of = button.textContent = row.name;
  const roles = line.appendChild(document.createElement("td"));
  roles.className = "roles";
  for (const { name: said, rule } of row.roles) {
    const role = roles.appendChild(document.createElement("abbr"));
    role.textContent = said;
    role.title = rule;
  }
  for (const { shown, small, part } of row.cells) {
    const cell = line.appendChild(document.createElement("td"));
    cell.style.setProperty("--part", part);
    const number = cell.appendChild(document.createElement("span"));
    number.textContent = shown;
    if (small) cell.appendChild(Object.assign(document.createElement("small"), { textContent: small }));
  }
  return line;
}
