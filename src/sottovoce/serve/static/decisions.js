// Decisions on a text: disjoint stretches that are masked or released, and who decided that.
// Places are counted in Unicode code points, as the service does.

const LETTER = /[\p{L}\p{N}\p{M}]/u;
const JOINT = /[-'’.@_/:+]/u; // inside a word if a letter follows

// Start and end of every word.
export function wordsOf(letters) {
  const words = [];
  let start = null;
  for (let i = 0; i <= letters.length; i++) {
    const joint = start !== null && JOINT.test(letters[i] ?? "") && LETTER.test(letters[i + 1] ?? "");
    const inside = i < letters.length && (LETTER.test(letters[i]) || joint);
    if (inside && start === null) start = i;
    if (!inside && start !== null) {
      words.push([start, i]);
      start = null;
    }
  }
  return words;
}

export class Decisions {
  constructor(text, file) {
    this.text = text;
    this.file = file;
    this.letters = Array.from(text);
    this.words = wordsOf(this.letters);
    this.items = file.documents[0].decisions.map((item) => ({ ...item }));
    this.stretches = (file.documents[0].stretches ?? []).map((item) => ({ ...item }));
    this.changed = false;
  }

  said({ start, end }) {
    return this.letters.slice(start, end).join("");
  }

  // The decisions as a file that the service and the command line read.
  toFile() {
    const [document] = this.file.documents;
    const sorted = [...this.items].sort((a, b) => a.start - b.start);
    return { ...this.file, documents: [{ ...document, decisions: sorted, stretches: this.stretches }] };
  }

  // Every word, and every stretch with a decision, in order: { start, end, item }.
  pieces() {
    const free = this.words
      .filter(([start, end]) => !this.items.some((item) => item.start < end && start < item.end))
      .map(([start, end]) => ({ start, end }));
    return [...free, ...this.items.map((item) => ({ ...item, item }))].sort((a, b) => a.start - b.start);
  }

  // A person decides on a stretch and, if asked to, on all stretches of the same words. Returns how many.
  decide({ start, end, kind, rule = "", score = 1 }, mask, everywhere) {
    const decided = { kind, mask, by: "person", rule, score };
    const places = everywhere ? this.occurrences(start, end) : [];
    const others = places.filter((place) => place[0] !== start && this.isFree(place, mask));
    for (const [from, to] of others) this.put({ ...decided, start: from, end: to });
    this.put({ ...decided, start, end, ...(everywhere ? { everywhere } : {}) });
    this.changed = true;
    return others.length + 1;
  }

  put(item) {
    this.items = this.items.filter((other) => other.end <= item.start || item.end <= other.start);
    this.items.push(item);
  }

  // Whether nothing but the same stretch was decided on here; only what was proposed can be released.
  isFree([start, end], mask) {
    const touched = this.items.filter((item) => item.start < end && start < item.end);
    const same = touched.every((item) => item.start === start && item.end === end);
    return same && (mask || touched.length > 0);
  }

  // Places of the words of a stretch, whatever their case.
  occurrences(start, end) {
    const key = ([from, to]) => this.letters.slice(from, to).join("").toLowerCase();
    const inside = this.words.filter(([from, to]) => start < to && from < end);
    const places = [];
    for (let i = 0; inside.length && i + inside.length <= this.words.length; i++) {
      const run = this.words.slice(i, i + inside.length);
      if (run.every((word, j) => key(word) === key(inside[j]))) places.push([run[0][0], run.at(-1)[1]]);
    }
    return places;
  }

  counts() {
    const counts = { rule: 0, model: 0, person: 0, released: 0 };
    for (const { mask, by } of this.items) {
      if (mask) counts[by] += 1;
      else counts.released += 1;
    }
    counts.person += this.stretches.length;
    return counts;
  }

  get masked() {
    return this.items.filter((item) => item.mask).length + this.stretches.length;
  }
}
