// The review of a text: words that are pressed to mask or release them, decisions that are saved and loaded.
import { Decisions } from "./decisions.js";
import { counted, make, select } from "./dom.js";
import { chooser } from "./files.js";
import { KINDS, plainKind } from "./kinds.js";

const LONGEST = 20000; // letters up to which every word can be pressed

export class Review {
  // `apply` sends the decisions to the service; `changed` is called after every decision.
  constructor(id, { apply, changed = () => {} }) {
    Object.assign(this, { id, apply, changed, decisions: null, loaded: null, current: 0, anchor: null });
    this.words = make("div", {
      class: "words review-words", id: `${id}-words`, role: "toolbar", "aria-label": "Words: masked if pressed",
      "aria-describedby": `${id}-review-help`,
    });
    this.kind = select(`${id}-kind`, Object.entries(KINDS).map(([kind, name]) => [kind, name]), "PER");
    this.everywhere = make("input", { type: "checkbox", id: `${id}-everywhere`, "aria-describedby": `${id}-review-help` });
    this.everywhere.checked = true;
    this.state = make("p", { class: "state", role: "status", id: `${id}-review-state` });
    this.panel = this.build();
    this.words.addEventListener("click", (event) => this.press(event));
    this.words.addEventListener("keydown", (event) => this.key(event));
  }

  build() {
    const { id } = this;
    this.applying = make("button", { type: "button", class: "button main", id: `${id}-apply` }, "Apply the decisions");
    this.applying.addEventListener("click", () => this.apply());
    const save = make("button", { type: "button", id: `${id}-save-decisions` }, "Save decisions");
    save.addEventListener("click", () => this.save());
    const [input, load] = chooser(`${id}-load-decisions`, "Load decisions", `${id}-review-help`, (file) => this.load(file));
    input.setAttribute("aria-label", "Load decisions");
    input.setAttribute("accept", ".json,application/json");
    this.kind.setAttribute("aria-describedby", `${id}-review-help`);
    return make(
      "section",
      { class: "review", "aria-label": "Review" },
      make("h3", {}, "Review"),
      make(
        "p",
        { class: "soft", id: `${id}-review-help` },
        "Press a word to mask it, a mask to release it. With the keyboard: arrow keys go from word to word, " +
          "Enter masks or releases, Shift with an arrow takes several words. Saved decisions hold places, not words.",
      ),
      this.words,
      make(
        "div",
        { class: "review-choices" },
        make("p", {}, make("label", { for: this.kind.id }, "Mark as"), " ", this.kind),
        make("p", {}, this.everywhere, " ", make("label", { for: this.everywhere.id }, "wherever the same words occur")),
      ),
      this.state,
      make("p", { class: "buttons" }, this.applying, save, input, load),
    );
  }

  show(text, file) {
    this.decisions = new Decisions(text, file);
    this.loaded = null;
    this.current = 0;
    this.anchor = null;
    this.draw();
    this.say("");
  }

  clear() {
    this.decisions = this.loaded = null;
  }

  // What to send with a text: the decisions on it, or those that were loaded; null if there are none.
  fileFor(text) {
    if (this.loaded) return this.loaded;
    return this.decisions?.text === text ? this.decisions.toFile() : null;
  }

  draw() {
    const { decisions } = this;
    const long = decisions.letters.length > LONGEST;
    this.pieces = decisions.pieces().filter((piece) => piece.item || !long);
    this.buttons = this.pieces.map((piece) => this.button(piece));
    const nodes = [];
    let position = 0;
    this.pieces.forEach(({ start, end }, i) => {
      nodes.push(decisions.said({ start: position, end: start }), this.buttons[i]);
      position = end;
    });
    nodes.push(decisions.said({ start: position, end: decisions.letters.length }));
    this.words.replaceChildren(...nodes);
    this.current = Math.min(this.current, Math.max(0, this.pieces.length - 1));
    this.buttons[this.current]?.setAttribute("tabindex", "0");
  }

  button({ item, ...piece }) {
    const said = this.decisions.said(piece);
    const button = make("button", { type: "button", class: "word", tabindex: "-1", "aria-pressed": String(Boolean(item?.mask)) });
    if (!item) button.append(said);
    else if (item.mask) button.append(make("mark", { class: item.kind }, said, make("small", {}, plainKind(item.kind))));
    else button.append(make("span", { class: "released" }, said, make("small", {}, "released")));
    if (item?.by === "person") button.classList.add("by-person");
    return button;
  }

  press(event) {
    const index = this.buttons.indexOf(event.target.closest("button"));
    if (index < 0) return;
    const byKey = event.detail === 0; // Enter or Space: the words that were taken stay taken
    if (event.shiftKey) this.anchor ??= this.current;
    else if (!byKey) this.anchor = null;
    this.current = index;
    this.toggle();
  }

  key(event) {
    const last = this.buttons.length - 1;
    const moves = {
      ArrowRight: this.current + 1, ArrowDown: this.current + 1, ArrowLeft: this.current - 1,
      ArrowUp: this.current - 1, Home: 0, End: last,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.anchor = event.shiftKey ? (this.anchor ?? this.current) : null;
    this.focus(Math.max(0, Math.min(last, moves[event.key])));
  }

  focus(index) {
    this.buttons[this.current]?.setAttribute("tabindex", "-1");
    this.current = index;
    this.buttons[index].setAttribute("tabindex", "0");
    this.buttons[index].focus();
    const [first, last] = this.range();
    this.buttons.forEach((button, i) => button.classList.toggle("taken", this.anchor !== null && first <= i && i <= last));
  }

  range() {
    const other = this.anchor ?? this.current;
    return [Math.min(other, this.current), Math.max(other, this.current)];
  }

  // Masks the chosen words, or releases a single mask.
  toggle() {
    const [first, last] = this.range();
    const single = first === last ? this.pieces[first].item : undefined;
    const stretch = single ?? { start: this.pieces[first].start, end: this.pieces[last].end, kind: this.kind.value };
    this.decide(stretch, !single?.mask);
    this.focus(this.pieces.findIndex(({ start }) => start === stretch.start));
  }

  decide(stretch, mask) {
    const count = this.decisions.decide(stretch, mask, this.everywhere.checked);
    this.anchor = null;
    this.draw();
    const done = mask ? `Marked as ${plainKind(stretch.kind)}` : "Released";
    this.say(`${done}${count > 1 ? `, ${counted(count, "place")}` : ""}. `);
    this.changed();
  }

  say(news) {
    const { rule, model, person, released } = this.decisions.counts();
    const masks = `Masks: ${rule} by rules, ${model} by models, ${person} by you; ${released} released by you.`;
    this.state.textContent = `${news}${masks}${this.decisions.changed ? " Not applied yet." : ""}`;
    this.state.classList.remove("wrong");
    this.applying.classList.toggle("waiting", this.decisions.changed);
  }

  save() {
    const content = `${JSON.stringify(this.decisions.toFile(), null, 1)}\n`;
    const link = make("a", { download: "decisions.json", href: URL.createObjectURL(new Blob([content])) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async load(file) {
    try {
      const loaded = JSON.parse(await file.text());
      if (!Array.isArray(loaded.documents)) throw new TypeError();
      this.loaded = loaded;
    } catch {
      this.state.textContent = `${file.name} is no file of decisions; choose one that was saved here.`;
      this.state.classList.add("wrong");
      return;
    }
    this.apply();
  }
}

// A text or recording without any mask is only saved or copied when asked twice.
export function askTwice(control, question) {
  let asked = false;
  control.addEventListener(
    "click",
    (event) => {
      if (asked) return;
      asked = true;
      event.preventDefault();
      event.stopImmediatePropagation();
      control.textContent = question;
      control.setAttribute("aria-label", question);
    },
    { capture: true },
  );
}

export function nothingMasked(what) {
  return make(
    "p",
    { class: "card bad nothing-masked", role: "alert" },
    make("strong", {}, "Nothing is masked."),
    ` This is ${what} as it was, with every private word that nobody found. Read it before you save it.`,
  );
}
