// Plays the recording of a training run, and lets one move through it: the half of `recorded_heads.py` that is no chart.
//
// The slider lies, clear, over the chart's track; the chart is told the moment through the value of the document's head.
// The server hears of a moment only once nothing has moved for a while. To whom prefers less motion, Play shows one moment
// after the other, one a press.

const EVENT = "loupe-recording";
const PRESSES = 50; // that go through a recording where there is less motion
const WAIT = 400; // ms without a change after which the server hears of the moment

const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");

class Player {
  constructor(root) {
    [this.root, this.stamp, this.moment, this.frame, this.timer, this.sent] = [root, null, 0, null, null, null];
    [this.slider, this.button, this.speed, this.step] = ["input", ".play", "select", ".step"].map((part) =>
      root.querySelector(part),
    );
    this.listens = new AbortController();
    const on = (target, type, action) => target.addEventListener(type, action, { signal: this.listens.signal });
    on(this.slider, "input", () => {
      this.pause();
      this.show(Number(this.slider.value));
      this.tellLater();
    });
    on(this.button, "click", () => this.playOrPause());
    on(reduced, "change", () => this.fit());
    on(document, "keydown", (event) => {
      const isTyping = event.target.closest?.("input:not([type=range]), textarea, select, [contenteditable=true]");
      if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      this.playOrPause();
    });
    this.fit();
  }

  update(data, report) {
    this.report = report;
    const isNew = data.stamp !== this.stamp;
    this.data = data;
    // What the server says is news only if the address has another moment than the one that it was told.
    if (isNew || (data.moment !== this.sent && this.frame === null && this.timer === null)) {
      this.pause();
      clearTimeout(this.timer);
      this.timer = null;
      this.stamp = data.stamp;
      this.slider.max = data.texts.length - 1;
      this.sent = data.moment;
      if (isNew) this.speed.value = data.speed;
      this.show(data.moment);
    } else this.show(this.moment);
  }

  fit() {
    this.pause();
    this.speed.parentElement.hidden = reduced.matches;
  }

  show(moment) {
    this.moment = moment;
    this.slider.value = moment;
    this.slider.setAttribute("aria-valuetext", this.data.texts[moment]);
    this.step.textContent = `moment ${(moment + 1).toLocaleString("en")} of ${this.data.texts.length.toLocaleString("en")}`;
    document.head.value = { stamp: this.stamp, moment };
    document.head.dispatchEvent(new Event(EVENT));
  }

  playOrPause() {
    const last = this.data.texts.length - 1;
    const from = this.moment >= last ? 0 : this.moment;
    if (reduced.matches) {
      this.show(Math.min(from + Math.ceil(last / PRESSES), last));
      this.tellLater();
      return;
    }
    if (this.frame !== null) {
      this.pause();
      this.tellLater();
      return;
    }
    clearTimeout(this.timer);
    this.timer = null;
    let start = null;
    let base = from;
    let speed = Number(this.speed.value);
    const next = (now) => {
      if (start === null || speed !== Number(this.speed.value))
        [start, base, speed] = [now, start === null ? from : this.moment, Number(this.speed.value)];
      const moment = Math.min(last, base + Math.floor(((now - start) / 1000) * speed));
      if (moment !== this.moment) this.show(moment);
      if (moment < last) {
        this.frame = requestAnimationFrame(next);
        return;
      }
      this.pause();
      this.tellLater();
    };
    this.frame = requestAnimationFrame(next);
    this.label(true);
  }

  pause() {
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    this.frame = null;
    this.label(false);
  }

  label(isPlaying) {
    this.button.textContent = isPlaying ? "❚❚ Pause" : reduced.matches ? "▶ Play a step" : "▶ Play";
  }

  tellLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.moment === this.sent) return;
      this.sent = this.moment;
      this.report({ stamp: this.stamp, moment: this.moment });
    }, WAIT);
  }

  close() {
    this.pause();
    clearTimeout(this.timer);
    this.listens.abort();
  }
}

const players = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".player");
  let player = players.get(root);
  if (!player) players.set(root, (player = new Player(root)));
  player.update(data, (chosen) => setTriggerValue("chosen", chosen));
  return () => {
    player.close();
    players.delete(root);
  };
}
