// The tokens as buttons, the keyboard, and what stays chosen: the half of `linked_heads.py` that is no chart.
//
// One object, the value of the page's body, tells all charts by their channel what is chosen and pointed at, with the
// numbers of that query. Which mark the pointer is over comes back field by field, as the value of the root element.
// Two charts of one page point together: at heads that are compared, and, if they read the same tokens, at one query.

const TOP = 65535; // weights are whole numbers from 0 to this, which stands for the `unit` of the data
const FIELDS = { layer: "over_layer", head: "over_head", position: "over_query", key: "over_key" };
const WAIT = 250; // ms after the last click until the server hears of it
const ANSWER = 60000; // ms in which the server answers a choice; what it says before is older than the choice
const STRONG = 0.5; // from there on a colour is too far from the page for its ink
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

const mounted = new Map(); // panels by root

// The panels that speak for their channels. While a page changes, Streamlit may put up a second copy of the old one for a
// moment: the last that was put up speaks, and when it is gone the one before it.
const panels = () => new Map([...mounted.values()].map((panel) => [panel.data.channel, panel]));

function tellCharts() {
  document.body.value = Object.fromEntries([...panels()].map(([channel, panel]) => [channel, panel.asked()]));
  document.body.dispatchEvent(new Event("loupe-ask"));
}

// From base64, or the numbers themselves.
function wholeNumbers(given) {
  if (given instanceof Uint16Array) return given;
  const bytes = Uint8Array.from(atob(given), (character) => character.charCodeAt(0));
  return new Uint16Array(bytes.buffer);
}

class Panel {
  constructor(root) {
    this.root = root;
    this.data = { stamp: null };
    this.kept = { layer: 0, head: 0, query: 0 };
    this.over = {};
    this.under = {}; // the mark under the pointer, by field
    this.sent = 0; // choices that went to the server
    this.sentAt = 0;
    this.colouredBy = "attention";
  }

  update(data, report) {
    this.report = report;
    const isNew = data.stamp !== this.data.stamp;
    const isOld = !isNew && data.answered < this.sent && Date.now() - this.sentAt < ANSWER;
    this.data = data;
    if (isNew || data.own_layer !== this.own?.[0] || data.own_head !== this.own?.[1]) {
      this.own = [data.own_layer, data.own_head];
      this.numbers = {};
      for (const name of ["weights", "best", "most"]) this.numbers[name] = wholeNumbers(data[name]);
    }
    if (isNew) {
      clearTimeout(this.timer);
      [this.over, this.under, this.timer] = [{}, {}, null];
      this.sent = data.answered;
      this.build();
    }
    if (isNew || !(isOld || this.timer)) {
      this.kept = { ...data.kept };
      this.colouredBy = data.coloured_by;
    }
    this.findChart();
    this.draw();
    tellCharts();
  }

  build() {
    const { queries, positions, keys } = this.data;
    const list = this.root.querySelector(".tokens");
    list.replaceChildren(
      ...queries.map((label, index) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = label;
        button.dataset.position = positions[index];
        return button;
      }),
    );
    const row = this.root.querySelector(".keys");
    row.hidden = keys === null;
    row.replaceChildren(
      ...(keys ?? []).map((label) => Object.assign(document.createElement("span"), { textContent: label })),
    );
    list.hidden = queries.length === 0;
  }

  // The chart may be put up long after the buttons, and anew later.
  findChart() {
    clearTimeout(this.finding);
    const chart = document.querySelector(this.data.chart_selector);
    if (!chart) {
      this.finding = setTimeout(() => this.findChart(), 200);
      return;
    }
    chart.tabIndex = 0;
    chart.setAttribute("role", "application");
    chart.setAttribute("aria-label", "All heads, and one in large. Arrow keys choose a head; with Shift, a query and a key.");
  }

  // What the chart is told: see `linked_heads.py`. Of all weights, those of the query that is shown.
  asked() {
    const { data, numbers } = this;
    const { query, n } = this.shown();
    const of = (values, size) => (query < 0 ? [] : Array.from(values.subarray(query * size, (query + 1) * size)));
    return {
      stamp: data.stamp,
      ...this.kept,
      ...this.over,
      is_whole: data.is_whole,
      own_layer: data.own_layer,
      own_head: data.own_head,
      weights: of(numbers.weights, data.n_keys * (data.is_whole ? n : 1)),
      best: of(numbers.best, n),
      most: of(numbers.most, n),
      hidden: this.byHiding() ? data.hidden.effects.map((effect) => effect / data.hidden.largest) : null,
    };
  }

  // Layer, head and query that are shown: those that are pointed at, or else the chosen ones.
  shown() {
    const { data, kept, over } = this;
    const query = Math.min(over.over_query ?? kept.query, data.n_queries - 1);
    return { layer: over.over_layer ?? kept.layer, head: over.over_head ?? kept.head, query, n: data.layers * data.heads };
  }

  // Whether the tokens have the colours of what the answer hangs on.
  byHiding() {
    return this.colouredBy === "answer" && Boolean(this.data.hidden?.effects.length);
  }

  // The weights of the row that is shown, [key]; null if they are not here.
  row() {
    const { data } = this;
    const { layer, head, query, n } = this.shown();
    if (query < 0 || (!data.is_whole && (layer !== data.own_layer || head !== data.own_head))) return null;
    const start = data.n_keys * (data.is_whole ? n * query + data.heads * layer + head : query);
    return Array.from(this.numbers.weights.subarray(start, start + data.n_keys), (weight) => (weight * data.unit) / TOP);
  }

  draw() {
    const [shown, row] = [this.shown(), this.row()];
    const top = this.data.tops?.[this.data.heads * shown.layer + shown.head] ?? 1;
    const { hidden, colours, dark } = this.data;
    const byHiding = this.byHiding();
    const buttons = [...this.root.querySelectorAll(".tokens button")];
    const ofKeys = this.data.keys === null ? buttons : [...this.root.querySelectorAll(".keys span")];
    const scale = isDark(this.root) ? [...colours].reverse() : colours;
    const { queries, positions } = this.data;
    ofKeys.forEach((element, index) => {
      const key = ofKeys === buttons ? positions[index] : index;
      const weight = row?.[key] ?? 0;
      if (byHiding) {
        const share = hidden.effects[key] / hidden.largest;
        element.style.backgroundColor = `color-mix(in srgb, ${share < 0 ? hidden.falls : hidden.rises} ${Math.round(Math.abs(share) * 100)}%, transparent)`;
        element.style.color = Math.abs(share) > 0.8 ? "#fafafa" : "";
        element.title = hidden.words[key];
      } else {
        const share = row === null ? 0 : weight / top;
        element.style.backgroundColor = share > 0 ? between(scale, share) : "";
        element.style.color = share > STRONG ? (isDark(this.root) ? "black" : "white") : "";
        element.title = row === null ? "" : `${weight.toFixed(3)} of the attention of “${queries[positions.indexOf(shown.query)] ?? shown.query}”`;
      }
    });
    const list = this.root.querySelector(".tokens");
    const current = buttons[positions.indexOf(shown.query)];
    const line = (current?.offsetTop ?? 0) - list.offsetTop - 5;
    const isSeen = line >= list.scrollTop && line + current?.offsetHeight <= list.scrollTop + list.clientHeight;
    if (current && !isSeen && !list.matches(":hover")) list.scrollTop = line;
    const focused = this.focused ?? this.kept.query;
    buttons.forEach((button, index) => {
      const position = positions[index];
      button.setAttribute("aria-pressed", position === this.kept.query);
      button.classList.toggle("shown", position === shown.query);
      button.tabIndex = position === focused ? 0 : -1;
      const weight = this.data.keys === null ? row?.[position] : undefined;
      button.ariaLabel = `${button.textContent}, position ${position}${weight === undefined ? "" : `, weight ${weight.toFixed(2)}`}`;
    });
    for (const option of this.root.querySelectorAll(".colouring button"))
      option.setAttribute("aria-pressed", (option.value === "answer") === (hidden !== null && this.colouredBy === "answer"));
    this.root.querySelector(".colouring").hidden = !hidden;
    const note = this.root.querySelector(".note");
    note.textContent = this.colouredBy === "answer" ? (hidden?.note ?? "") : "";
    note.hidden = !note.textContent;
  }

  // The pointer is over another mark: its fields come one by one, within one task.
  hear(field, value) {
    this.under[field] = value;
    if (this.heard) return;
    this.heard = true;
    queueMicrotask(() => {
      this.heard = false;
      const over = this.marked();
      this.inChart = Object.keys(over).length > 0;
      this.point(over);
    });
  }

  // What the mark under the pointer points at.
  marked() {
    const isMine = this.under.stamp === this.data.stamp;
    const over = {};
    for (const [name, asked] of Object.entries(FIELDS))
      if (isMine && Number.isInteger(this.under[name])) over[asked] = this.under[name];
    return over;
  }

  others() {
    return [...panels().values()].filter((panel) => panel !== this && panel.data.stamp);
  }

  // The head of the other chart that is compared with this one; null if there is none.
  partner(layer, head) {
    return this.data.partners?.[this.data.heads * layer + head] ?? null;
  }

  // Shows what is pointed at; another chart on the page shows the head compared with it and, of the same tokens, its query.
  point(over) {
    if (JSON.stringify(over) === JSON.stringify(this.over)) return;
    this.over = over;
    for (const panel of this.others()) {
      const { over_layer: layer, over_head: head, over_query: query } = over;
      const partner = layer === undefined ? null : this.partner(layer, head);
      panel.over = {};
      if (partner) Object.assign(panel.over, { over_layer: partner[0], over_head: partner[1] });
      if (query !== undefined && panel.data.tokens_id === this.data.tokens_id) panel.over.over_query = query;
      panel.draw();
    }
    this.draw();
    tellCharts();
  }

  // By the keyboard: the choice is shown, wherever the pointer rests, until the pointer moves on.
  chooseByKey(change) {
    this.point({});
    this.choose(change);
  }

  choose(change) {
    this.kept = { ...this.kept, ...change };
    for (const panel of this.others()) {
      const partner = this.partner(this.kept.layer, this.kept.head);
      if (partner) panel.kept = { ...panel.kept, layer: partner[0], head: partner[1] };
      if ("query" in change && panel.data.tokens_id === this.data.tokens_id) panel.kept.query = change.query;
      panel.draw();
    }
    tellCharts();
    this.draw();
    this.announce();
    this.tell();
  }

  // Tells the server all that is chosen, so that a message also says what was said by one that it did not hear.
  tell() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tellNow(), WAIT);
  }

  tellNow() {
    clearTimeout(this.timer);
    this.timer = null;
    this.sent += 1;
    this.sentAt = Date.now();
    this.report({ ...this.kept, coloured_by: this.colouredBy, stamp: this.data.stamp, number: this.sent });
  }

  leave() {
    this.inChart = false;
    this.under = {};
    this.point({});
  }

  announce() {
    const row = this.row();
    const { keys, labels } = this.data;
    const names = keys ?? labels;
    const strongest = (row ?? [])
      .map((weight, key) => [weight, key])
      .sort((a, b) => b[0] - a[0])
      .slice(0, 3)
      .map(([weight, key]) => `${names[key]} ${weight.toFixed(2)}`);
    const { layer, head, query } = this.kept;
    this.root.querySelector(".announced").textContent = `L${layer} H${head}, query ${labels[query]}: ${strongest.join(", ")}.`;
  }

  // Of the key that the keyboard points at, its weight, if it is here.
  announceKey(key) {
    const weight = this.row()?.[key];
    const { keys, labels } = this.data;
    const number = weight === undefined ? "" : `, weight ${weight.toFixed(2)}`;
    this.root.querySelector(".announced").textContent = `key ${(keys ?? labels)[key]}${number}.`;
  }

  clicked() {
    if (!this.inChart) return;
    const change = {};
    const { over_layer: layer, over_head: head, over_query: query } = this.marked();
    if (layer !== undefined) Object.assign(change, { layer, head });
    if (query !== undefined) change.query = query;
    if (Object.keys(change).length) this.choose(change);
  }

  pressed(event) {
    const step = STEPS[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") return this.point({});
    if (!step) return;
    event.preventDefault();
    const { layers, heads, n_queries: nQueries, n_keys: nKeys } = this.data;
    const turn = (value, change, n) => (value + change + n) % n;
    const { layer, head, query } = this.kept;
    if (!event.shiftKey) return this.chooseByKey({ layer: turn(layer, step[0], layers), head: turn(head, step[1], heads) });
    if (step[0]) return this.chooseByKey({ query: turn(query, step[0], nQueries) });
    const key = turn(this.over.over_key ?? (step[1] > 0 ? -1 : 0), step[1], nKeys);
    this.point({ over_query: query, over_key: key });
    this.announceKey(key);
  }

  listen() {
    const listens = new AbortController();
    const on = (target, type, action) =>
      target.addEventListener(type, (event) => panels().get(this.data.channel) === this && action(event), {
        signal: listens.signal,
      });
    const list = this.root.querySelector(".tokens");
    const token = (event) => event.target.closest?.("button[data-position]");
    const pointed = (event) => token(event) && this.point({ over_query: Number(token(event).dataset.position) });
    on(list, "pointerover", pointed);
    on(list, "focusin", (event) => {
      this.focused = Number(token(event)?.dataset.position ?? 0);
      if (event.target.matches(":focus-visible")) pointed(event);
    });
    on(list, "pointerleave", () => this.point({}));
    // A press on the chart takes the focus from a token: the click that follows is on what the pointer is over.
    on(list, "focusout", () => this.point(this.marked()));
    on(list, "click", (event) => token(event) && this.choose({ query: Number(token(event).dataset.position) }));
    on(list, "keydown", (event) => {
      const step = STEPS[event.key];
      if (event.key === "Escape") this.point({});
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const buttons = list.querySelectorAll("button");
      const { positions } = this.data;
      const next = (positions.indexOf(this.focused) + step[0] + step[1] + buttons.length) % buttons.length;
      this.focused = positions[next];
      buttons[next].focus();
    });
    on(this.root.querySelector(".colouring"), "click", (event) => {
      if (!event.target.value) return;
      this.colouredBy = event.target.value;
      this.draw();
      tellCharts();
      this.tell();
    });
    // Streamlit may put the chart up anew: the page listens, not the chart.
    const inChart = (event) => event.target.closest?.(this.data.chart_selector) != null;
    // What is pressed elsewhere, such as a download, is about what was chosen before.
    const isMine = (event) => this.root.contains(event.target) || inChart(event);
    on(window, "pointerdown", (event) => {
      if (!this.timer || isMine(event)) return;
      this.tellNow();
    });
    on(document, "click", (event) => inChart(event) && event.target.tagName === "CANVAS" && this.clicked());
    on(document, "keydown", (event) => event.target.matches?.(this.data.chart_selector) && this.pressed(event));
    on(document, "focusout", (event) => event.target.matches?.(this.data.chart_selector) && this.point(this.marked()));
    for (const field of [...Object.keys(FIELDS), "stamp"])
      on(document.documentElement, `loupe-${this.data.channel}-${field}`, () =>
        this.hear(field, document.documentElement.value),
      );
    on(document, "pointerout", (event) => inChart(event) && event.target.tagName === "CANVAS" && this.leave());
    return listens;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".linked");
  if (!mounted.has(root)) {
    const panel = new Panel(root);
    panel.data = { stamp: null, channel: data.channel };
    panel.listens = panel.listen();
    mounted.set(root, panel);
  }
  const panel = mounted.get(root);
  panel.update(data, (chosen) => setTriggerValue("chosen", chosen));
  return () => {
    panel.listens.abort();
    clearTimeout(panel.finding);
    mounted.delete(root);
    if (panels().has(data.channel)) tellCharts();
  };
}
