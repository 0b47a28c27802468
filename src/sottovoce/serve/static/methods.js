// Voice methods as the service describes them: names, settings and what still leaks.
import { at, field, make, select } from "./dom.js";

// Names of the methods in words; one of an installed package keeps its own name.
const TITLES = {
  mcadams: "McAdams: formants moved",
  voicemask: "VoiceMask: frequencies warped",
  vtln: "Vocal tract length changed (VTLN)",
  xvector: "New voice from a pool (x-vector)",
  dar: "Voice conversion, experimental (DAR)",
};

let cards = [];
let results = {};

export function setMethods(available) {
  cards = available.methods;
  results = available;
}

export const methodTitle = (name) => TITLES[name] ?? name;

const percent = (share) => `${Math.round(100 * share)} %`;

// What was measured of a method, in a line: how many are found, and what is lost.
export function strength({ measured }) {
  if (!measured) return "Not measured: audit it before you rely on it.";
  const { found_high: high, found_with_draws: known, words_wrong: wrong } = measured;
  const draws = known > high ? `, ${percent(known)} if the secret draws leak` : "";
  return (
    `Still found: up to ${percent(high)} of recordings${draws}. ` +
    `Words wrong: ${percent(wrong)}, ${percent(results.words_wrong_before)} before.`
  );
}

// Which method for which purpose, with what speaks against it, and where the figures come from.
export function recommendations() {
  const lines = results.recommendations.map(({ purpose, method, reason }) =>
    make("li", {}, make("strong", {}, `${purpose[0].toUpperCase()}${purpose.slice(1)}: ${methodTitle(method)}`), ` – ${reason}.`),
  );
  const origin = `Measured among ${results.measured_people} people: ${results.measured_on}. Your recordings may differ; an audit tells.`;
  return [make("ul", {}, ...lines), make("p", { class: "soft" }, origin)];
}

export const methodCards = () => cards;
export const methodCard = (name) => cards.find((card) => card.name === name);

const NUMBER = "a number";

function rangeOf({ low, high }) {
  return high >= 1e6 ? `${low} or more` : `${low} to ${high}`;
}

function numberInput(id, { low, high }) {
  const input = make("input", { id, type: "number", step: "any", min: low, max: high });
  input.required = true;
  return input;
}

// The control of a setting: for a number, for a few words, or for either.
function settingField(setting) {
  const id = `setting-${setting.name}`;
  const title = setting.name.replaceAll("_", " ");
  if (setting.low === null) {
    return field(title, select(id, setting.words.map((word) => [word, word]), setting.default), setting.help);
  }
  if (!setting.words.length) {
    const input = numberInput(id, setting);
    input.value = setting.default;
    return field(title, input, `${setting.help} From ${rangeOf(setting)}.`);
  }
  const words = [...setting.words, NUMBER].map((word) => [word, word]);
  const row = field(title, select(id, words, setting.default), `${setting.help} A number from ${rangeOf(setting)}.`);
  const input = numberInput(`${id}-number`, setting);
  input.setAttribute("aria-label", `${title}, a number`);
  input.setAttribute("aria-describedby", `${id}-help`);
  const chooser = row.querySelector("select");
  const show = () => (input.hidden = input.disabled = chooser.value !== NUMBER);
  chooser.addEventListener("change", show);
  show();
  chooser.after(input);
  return row;
}

export function showSettings(place, name) {
  place.replaceChildren(...methodCard(name).settings.map(settingField));
}

// The settings that differ from the defaults, by name.
export function chosenSettings(name) {
  const chosen = {};
  for (const setting of methodCard(name).settings) {
    const control = at(`setting-${setting.name}`);
    const value = control.value === NUMBER ? at(`setting-${setting.name}-number`).value : control.value;
    if (value !== String(setting.default)) chosen[setting.name] = value;
  }
  return chosen;
}

// What a method keeps and leaks, shown beside its result.
export function methodNotes(name) {
  const card = methodCard(name);
  return make(
    "div",
    { class: "card doubt" },
    make("h3", {}, `What is left: ${methodTitle(name)}`),
    make(
      "dl",
      {},
      make("dt", {}, "measured"),
      make("dd", {}, strength(card)),
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
