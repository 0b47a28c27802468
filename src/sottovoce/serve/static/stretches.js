// Stretches of sound that a person marks: by dragging on the time axis, with keys, or as numbers.
import { make } from "./dom.js";
import { plainKind } from "./kinds.js";

const SHORTEST = 0.05; // seconds

export class Stretches {
  // `review` holds the stretches among its decisions; they are marked on `track`.
  constructor(id, review, track) {
    Object.assign(this, { id, review, track, from: null });
    track.onSelect = (start, end) => this.add(start, end);
    this.list = make("ul", { class: "stretch-list", id: `${id}-stretches` });
    const help = `${id}-stretch-help`;
    const button = (name, label, action) => {
      const element = make("button", { type: "button", id: `${id}-${name}`, "aria-describedby": help }, label);
      element.addEventListener("click", action);
      return element;
    };
    this.panel = make(
      "fieldset",
      { class: "stretch-panel" },
      make("legend", {}, "Mark a stretch of sound"),
      make(
        "p",
        { class: "soft", id: help },
        "Drag over the recording above to mask a stretch of it. With the keyboard: on the recording, arrow keys " +
          "move, Shift with an arrow marks; or mark from and to the position with the buttons.",
      ),
      make(
        "p",
        { class: "buttons" },
        button("mark-from", "Mark from here", () => this.begin()),
        button("mark-to", "Mark to here", () => this.end()),
      ),
      this.list,
    );
  }

  get items() {
    return this.review.decisions?.stretches ?? [];
  }

  begin() {
    this.from = this.track.position;
    this.review.say(`Marking from ${this.from.toFixed(2)} s. `);
  }

  end() {
    const from = this.from ?? 0;
    this.add(Math.min(from, this.track.position), Math.max(from, this.track.position));
    this.from = null;
  }

  add(start, end) {
    if (!this.review.decisions) return;
    if (end - start < SHORTEST) {
      this.review.say(`A stretch needs at least ${SHORTEST} s. `);
      return;
    }
    const round = (value) => Math.round(100 * value) / 100;
    this.items.push({ start: round(start), end: round(Math.min(end, this.track.length)), kind: this.review.kind.value, by: "person" });
    this.change(`Marked ${round(start).toFixed(2)} to ${round(end).toFixed(2)} s. `);
  }

  change(news) {
    this.review.decisions.changed = true;
    this.draw();
    this.review.say(news);
    this.review.changed();
  }

  draw() {
    this.track.showMarks(this.items.map(({ start, end, kind }) => [start, end, plainKind(kind)]));
    this.list.replaceChildren(...this.items.map((item, i) => this.row(item, i)));
  }

  row(item, i) {
    const number = (side, label) => {
      const id = `${this.id}-stretch-${side}-${i}`;
      const input = make("input", {
        type: "number", id, min: 0, max: this.track.length.toFixed(2), step: 0.05, "aria-describedby": `${this.id}-stretch-help`,
      });
      input.value = item[side].toFixed(2);
      input.addEventListener("change", () => {
        const value = Math.max(0, Math.min(this.track.length, Number(input.value)));
        const changed = { ...item, [side]: value };
        if (changed.end - changed.start >= SHORTEST) item[side] = value;
        this.change("");
        document.getElementById(id).focus();
      });
      return [make("label", { for: id }, label), input];
    };
    const remove = make("button", { type: "button", class: "small", "aria-label": `Remove stretch ${i + 1}` }, "Remove");
    remove.addEventListener("click", () => {
      this.items.splice(i, 1);
      this.change("Removed. ");
      (this.list.querySelector("button") ?? this.panel.querySelector("button")).focus();
    });
    return make("li", {}, make("span", {}, plainKind(item.kind)), ...number("start", "from"), ...number("end", "to"), make("span", {}, "s"), remove);
  }
}
