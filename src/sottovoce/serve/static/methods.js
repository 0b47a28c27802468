// Voice methods as the service describes them: their names, settings and what they leave.
import { at, field, make, select } from "./dom.js";

let cards = [];

export function setMethods(found) {
  cards = found;
}

export const methodCards = () => cards;
export const methodCard = (name) => cards.find((one) => one.name === name);

const NUMBER = "a number";

function rangeOf({ low, high }) {
  return high >= 1e6 ? `${low} or more` : `${low} to ${high}`;
}

function numberInput(id, one) {
  const made = make("input", { id, type: "number", step: "any", min: one.low, max: one.high });
  made.required = true;
  return made;
}

// A setting is a number, one of a few words, or either.
function settingField(one) {
  const id = `setting-${one.name}`;
  const title = one.name.replaceAll("_", " ");
  if (one.low === null) {
    return field(title, select(id, one.words.map((word) => [word, word]), one.default), one.help);
  }
  if (!one.words.length) {
    const input = numberInput(id, one);
    input.value = one.default;
    return field(title, input, `${one.help} From ${rangeOf(one)}.`);
  }
  const words = [...one.words, NUMBER].map((word) => [word, word]);
  const made = field(title, select(id, words, one.default), `${one.help} A number from ${rangeOf(one)}.`);
  const input = numberInput(`${id}-number`, one);
  input.setAttribute("aria-label", `${title}, a number`);
  input.setAttribute("aria-describedby", `${id}-help`);
  const chooser = made.querySelector("select");
  const show = () => (input.hidden = input.disabled = chooser.value !== NUMBER);
  chooser.addEventListener("change", show);
  show();
  chooser.after(input);
  return made;
}

export function showSettings(place, name) {
  place.replaceChildren(...methodCard(name).settings.map(settingField));
}

// The settings that differ from the defaults, by name.
export function chosenSettings(name) {
  const chosen = {};
  for (const one of methodCard(name).settings) {
    const control = at(`setting-${one.name}`);
    const value = control.value === NUMBER ? at(`setting-${one.name}-number`).value : control.value;
    if (value !== String(one.default)) chosen[one.name] = value;
  }
  return chosen;
}

// What a method keeps and leaks, beside its result.
export function toldOf(name) {
  const card = methodCard(name);
  return make(
    "div",
    { class: "card doubt" },
    make("h3", {}, `What ${name} leaves`),
    make(
      "dl",
      {},
      make("dt", {}, "still leaks"),
      make("dd", {}, card.leaks),
      make("dt", {}, "kept as it was"),
      make("dd", {}, card.keeps.join(", ")),
      make("dt", {}, "can be undone"),
      make("dd", {}, card.reversible),
      make("dt", {}, "from"),
      make("dd", {}, card.reference),
    ),
  );
}
