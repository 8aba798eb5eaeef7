// The tokens as buttons, of which a stroke hides several at once, coloured by the row of the chosen query. Under a mask that
// is not chosen token by token, a click chooses the query instead.
//
// The row is computed here as soon as something is hidden; one message tells the server at the end of the stroke.

const ANSWER = 60000; // ms in which the server answers; what it says before is older than the stroke
const STRONG = 0.48; // from there on a colour is too far from the page for its ink
const NAMED = 3; // hidden tokens that are named one by one
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

const strokes = new WeakMap(); // by the element that holds the tokens

class Stroke {
  constructor(root) {
    this.root = root;
    this.list = root.querySelector(".words");
    this.data = { stamp: null };
    this.hidden = new Set();
    this.focused = 0;
    this.listen();
  }

  update(data, report) {
    this.report = report;
    const isNew = data.stamp !== this.data.stamp;
    this.data = data;
    if (isNew) {
      this.stroke = null;
      this.sent = data.answered;
      this.build();
    }
    const isOld = data.answered < this.sent && Date.now() - this.sentAt < ANSWER;
    if (!(isOld || this.stroke)) {
      this.hidden = new Set(data.hidden);
      this.waits = false;
    }
    this.draw();
  }

  build() {
    this.focused = Math.min(this.focused, this.data.tokens.length - 1);
    this.list.replaceChildren(
      ...this.data.tokens.map((token, position) => {
        const button = document.createElement("button");
        button.type = "button";
        button.dataset.position = position;
        button.append(Object.assign(document.createElement("span"), { textContent: token }));
        button.append(document.createElement("small"));
        return button;
      }),
    );
  }

  row() {
    const { scores, allowed, masks, hides } = this.data;
    return maskedRow(
      scores,
      allowed.map((is, key) => is && !(hides && masks && this.hidden.has(key))),
    );
  }

  draw() {
    const { data, hidden } = this;
    const row = this.row();
    const colours = isDark(this.root) ? [...data.colours].reverse() : data.colours;
    [...this.list.children].forEach((button, key) => {
      const [weight, share] = [row[key], row[key] / data.largest];
      button.style.backgroundColor = weight > 0 ? between(colours, share) : "";
      button.style.color = share > STRONG ? "var(--st-background-color, Canvas)" : "";
      button.classList.toggle("hidden", hidden.has(key));
      button.classList.toggle("query", key === data.query);
      button.setAttribute("aria-pressed", data.hides ? hidden.has(key) : key === data.query);
      button.tabIndex = key === this.focused ? 0 : -1;
      button.lastChild.textContent = weight < 0.005 ? "" : weight.toFixed(2).replace(/^0/, "");
      button.dataset.weight = weight;
      const state = hidden.has(key) ? "hidden" : `weight ${weight.toFixed(2)}`;
      button.ariaLabel = `${data.labels[key]}, position ${key}, ${state}`;
    });
    this.root.querySelector(".status").textContent = this.status(row.some((weight) => weight > 0));
  }

  status(isAnyLeft) {
    const { data, hidden } = this;
    const reader = `“${data.tokens[data.query]}” in ${data.head}`;
    const numbers = `The numbers: how much ${reader} reads of each token`;
    if (!data.hides) return `${numbers}. Click another token to see what that one reads.`;
    const keys = [...hidden].sort((one, other) => one - other);
    const names = keys.length > NAMED ? `${keys.length} tokens` : keys.map((key) => `“${data.tokens[key]}”`).join(", ");
    if (!keys.length && !this.waits)
      return `${numbers}. Click a token to hide it, or drag over several (keys: Shift and arrows).`;
    const what = keys.length ? `${names} ${keys.length > 1 ? "are" : "is"} hidden` : "Nothing is hidden";
    if (!isAnyLeft) return `${what}: ${reader} has nothing left to read.`;
    if (keys.length && !data.masks)
      return `${what}, but not in ${data.head}: it changes only if what it reads was changed in the layers before.`;
    const shared = keys.length ? `${what}: ${reader} gives all its weight to the others` : what;
    if (!this.waits) return `${shared}. Click a token to hide or show it.`;
    return data.exact ? `${shared}; exact in layer 0.` : `${shared}; a first guess until the encoder has computed it.`;
  }

  // Hides or shows again all tokens from the first one of the stroke to this one; the others are as before it.
  reach(position) {
    const { first, hides, before } = this.stroke;
    this.stroke.last = position;
    this.hidden = new Set(before);
    for (let key = Math.min(first, position); key <= Math.max(first, position); key += 1)
      if (hides) this.hidden.add(key);
      else this.hidden.delete(key);
    this.waits = true;
    this.draw();
  }

  begin(position) {
    this.stroke = { first: position, hides: !this.hidden.has(position), before: new Set(this.hidden) };
  }

  end() {
    this.stroke = null;
    this.tell([...this.hidden]);
  }

  tell(positions) {
    this.sent += 1;
    this.sentAt = Date.now();
    this.report({ positions, number: this.sent, stamp: this.data.stamp });
  }

  focus(position) {
    this.focused = position;
    [...this.list.children].forEach((button, key) => (button.tabIndex = key === position ? 0 : -1));
    this.list.children[position].focus({ preventScroll: false });
  }

  listen() {
    const { list } = this;
    const positionOf = (element) => {
      const button = element?.closest?.("button[data-position]");
      return button ? Number(button.dataset.position) : null;
    };
    list.addEventListener("pointerdown", (event) => {
      const position = positionOf(event.target);
      if (position === null || event.button !== 0 || !this.data.hides) return;
      event.preventDefault();
      list.setPointerCapture(event.pointerId);
      this.focus(position);
      this.begin(position);
      this.reach(position);
    });
    list.addEventListener("pointermove", (event) => {
      if (!this.stroke || this.stroke.byKeys) return;
      const position = positionOf(list.getRootNode().elementFromPoint(event.clientX, event.clientY));
      if (position !== null && position !== this.stroke.last) this.reach(position);
    });
    list.addEventListener("pointerup", () => {
      if (!this.stroke || this.stroke.byKeys) return;
      this.wasPointer = true;
      setTimeout(() => (this.wasPointer = false));
      this.end();
    });
    list.addEventListener("pointercancel", () => {
      if (!this.stroke) return;
      this.hidden = this.stroke.before;
      this.stroke = null;
      this.draw();
    });
    list.addEventListener("focusin", (event) => (this.focused = positionOf(event.target) ?? this.focused));
    list.addEventListener("click", (event) => {
      const position = positionOf(event.target); // by Enter, Space or a screen reader
      if (position === null || this.wasPointer) return;
      if (!this.data.hides) return this.tell([position]);
      this.begin(position);
      this.reach(position);
      this.end();
    });
    list.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const next = Math.min(Math.max(this.focused + step, 0), this.data.tokens.length - 1);
      if (event.shiftKey && this.data.hides) {
        if (!this.stroke) {
          this.begin(this.focused);
          this.stroke.byKeys = true;
        }
        this.reach(next);
      }
      this.focus(next);
    });
    const endOfKeys = () => this.stroke?.byKeys && this.end();
    list.addEventListener("keyup", (event) => event.key === "Shift" && endOfKeys());
    list.addEventListener("focusout", (event) => !list.contains(event.relatedTarget) && endOfKeys());
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".stroke");
  if (!strokes.has(root)) strokes.set(root, new Stroke(root));
  const stroke = strokes.get(root);
  stroke.update(data, (taken) => setTriggerValue("taken", taken));
  return () => strokes.delete(root);
}
