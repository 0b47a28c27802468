// A sound with play button, waveform, spectrogram, position and marked stretches.
import { make, seconds } from "./dom.js";
import { drawTones, drawWave, TOP } from "./picture.js";
import { lengthOf } from "./sound.js";

const STEP = 0.25; // seconds an arrow key moves
const FINE_STEP = 0.05; // seconds an arrow key moves while Shift marks
const DRAG = 5; // pixels from which on a press is a drag
const shown = new Set();

export class Track {
  constructor(place, title) {
    this.title = title;
    this.player = new Audio();
    this.play = make("button", { type: "button", class: "play" });
    this.facts = make("span", { class: "soft" });
    this.wave = make("canvas", { class: "wave" });
    this.tones = make("canvas", { class: "tones" });
    this.head = make("div", { class: "head" });
    this.stretches = make("div", { class: "stretches" });
    this.marks = make("div", { class: "marks" });
    this.onSelect = null; // called with start and end of a stretch that was dragged over
    this.axis = make("div", { class: "axis", "aria-hidden": "true" });
    const slider = { role: "slider", tabindex: "0", "aria-valuemin": "0" };
    this.picture = make(
      "div",
      { ...slider, class: "picture", "aria-label": `Position, ${title.toLowerCase()}` },
      this.wave,
      this.tones,
      this.stretches,
      this.marks,
      this.head,
    );
    const hertz = [make("span", {}, `${TOP / 1000} kHz`), make("span", {}, "0")];
    this.figure = make(
      "figure",
      { class: "track" },
      make("figcaption", {}, this.play, make("strong", {}, title), this.facts),
      make("div", { class: "tall", "aria-hidden": "true" }, ...hertz),
      this.picture,
      this.axis,
    );
    this.figure.hidden = true;
    place.replaceChildren(this.figure);
    this.listen();
  }

  listen() {
    this.play.addEventListener("click", () => this.toggle());
    this.player.addEventListener("ended", () => this.player.pause());
    for (const kind of ["play", "pause"]) this.player.addEventListener(kind, () => this.showPlaying());
    this.player.addEventListener("seeked", () => this.showPosition());
    this.picture.addEventListener("pointerdown", (event) => this.drag(event));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("keyup", (event) => event.key === "Shift" && this.endSelection());
    this.picture.addEventListener("blur", () => this.endSelection());
    new ResizeObserver(() => this.draw()).observe(this.picture);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  timeAt(event) {
    const box = this.picture.getBoundingClientRect();
    return Math.max(0, Math.min(this.length, ((event.clientX - box.left) / box.width) * this.span));
  }

  // A press moves the position; if stretches can be marked, dragging marks one.
  drag(event) {
    const start = this.timeAt(event);
    this.seek(start);
    if (!this.onSelect || event.button !== 0) return;
    const origin = event.clientX;
    const move = (later) => {
      if (this.selection || Math.abs(later.clientX - origin) > DRAG) this.select(start, this.timeAt(later));
    };
    const stop = () => {
      this.picture.removeEventListener("pointermove", move);
      for (const kind of ["pointerup", "pointercancel"]) this.picture.removeEventListener(kind, stop);
      this.endSelection();
    };
    this.picture.setPointerCapture(event.pointerId);
    this.picture.addEventListener("pointermove", move);
    for (const kind of ["pointerup", "pointercancel"]) this.picture.addEventListener(kind, stop);
  }

  select(start, end) {
    this.selection = [start, end];
    this.marks.querySelector(".selecting")?.remove();
    const shown = this.stretch([Math.min(start, end), Math.max(start, end), ""]);
    shown.classList.add("selecting");
    this.marks.append(shown);
  }

  endSelection() {
    if (!this.selection) return;
    const [start, end] = this.selection;
    this.selection = null;
    this.marks.querySelector(".selecting")?.remove();
    this.onSelect(Math.min(start, end), Math.max(start, end));
  }

  showMarks(marks) {
    this.marks.replaceChildren(...marks.map((mark) => this.stretch(mark)));
  }

  get position() {
    return this.player.currentTime;
  }

  key(event) {
    const here = this.player.currentTime;
    const marking = event.shiftKey && this.onSelect;
    const step = marking ? FINE_STEP : STEP;
    const moves = {
      ArrowRight: here + step, ArrowUp: here + step, ArrowLeft: here - step, ArrowDown: here - step,
      Home: 0, End: this.length,
    };
    if (event.key in moves) {
      this.seek(moves[event.key]);
      if (marking) this.select(this.selection?.[0] ?? here, this.player.currentTime);
    }
    else if (event.key === " " || event.key === "Enter") this.toggle();
    else return;
    event.preventDefault();
  }

  // `span` is the length of the time axis and `peak` the top of the waveform, equal for both tracks.
  show(blob, sound, { span, peak, stretches = [], facts = "" }) {
    this.player.pause();
    if (this.player.src) URL.revokeObjectURL(this.player.src);
    this.player.src = URL.createObjectURL(blob);
    Object.assign(this, { sound, span, peak, length: lengthOf(sound) });
    this.facts.textContent = [seconds(this.length), facts].filter(Boolean).join(" · ");
    this.picture.setAttribute("aria-valuemax", this.length.toFixed(2));
    this.stretches.replaceChildren(...stretches.map((stretch) => this.stretch(stretch)));
    this.selection = null;
    this.marks.replaceChildren();
    this.figure.hidden = false;
    shown.add(this);
    this.showAxis();
    this.showPlaying();
    this.draw();
  }

  hide() {
    this.player.pause();
    this.figure.hidden = true;
    this.sound = undefined;
    shown.delete(this);
  }

  stretch([start, end, label]) {
    const element = make("div", {}, make("span", {}, label));
    element.style.left = `${(100 * start) / this.span}%`;
    element.style.width = `${(100 * Math.max(end - start, 0.01)) / this.span}%`;
    return element;
  }

  showAxis() {
    const step = [0.5, 1, 2, 5, 10, 30, 60, 120].find((step) => this.span / step <= 8) ?? 300;
    const marks = [];
    for (let time = 0; time <= this.span; time += step) {
      const mark = make("span", {}, `${time}`);
      mark.style.left = `${(100 * time) / this.span}%`;
      marks.push(mark);
    }
    this.axis.replaceChildren(...marks, make("span", { class: "unit" }, "s"));
  }

  draw() {
    if (!this.sound || !this.picture.clientWidth) return;
    const part = `${(100 * this.length) / this.span}%`;
    for (const canvas of [this.wave, this.tones]) canvas.style.width = part;
    drawWave(this.wave, this.sound, this.peak);
    drawTones(this.tones, this.sound);
    this.showPosition();
  }

  // Two tracks are compared: the track that starts continues at the position of the other.
  toggle() {
    if (!this.player.paused) {
      this.player.pause();
      return;
    }
    for (const other of shown) {
      if (other !== this && !other.player.paused) {
        other.player.pause();
        if (other.player.currentTime < this.length) this.player.currentTime = other.player.currentTime;
      }
    }
    this.player.play();
  }

  seek(time) {
    this.player.currentTime = Math.max(0, Math.min(this.length, time));
    this.showPosition();
  }

  showPlaying() {
    const playing = !this.player.paused;
    this.play.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", `${playing ? "Pause" : "Play"}, ${this.title.toLowerCase()}`);
    if (playing) requestAnimationFrame(() => this.follow());
  }

  follow() {
    this.showPosition();
    if (!this.player.paused) requestAnimationFrame(() => this.follow());
  }

  showPosition() {
    const here = this.player.currentTime;
    this.head.style.left = `${(100 * Math.min(here, this.span)) / this.span}%`;
    this.picture.setAttribute("aria-valuenow", here.toFixed(2));
    this.picture.setAttribute("aria-valuetext", `${seconds(here)} of ${seconds(this.length)}`);
  }
}

// Length of the time axis and peak that sounds share; null stands for a sound that cannot be decoded.
export function axesOf(...sounds) {
  const decoded = sounds.filter(Boolean);
  let peak = 0.01;
  for (const { samples } of decoded) for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  return { span: Math.max(...decoded.map(lengthOf)), peak };
}
