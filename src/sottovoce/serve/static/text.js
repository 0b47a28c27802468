// The private words of a text, found and replaced by every strategy.
import { at, copyButton, counted, make } from "./dom.js";
import { DEFAULT_KINDS, KINDS } from "./kinds.js";
import { languageNotice } from "./languages.js";
import { askTwice, nothingMasked, Review } from "./review.js";
import { ask, Missing, onSend } from "./service.js";
import { SAMPLES } from "./samples.js";

let strategies = {};
let review;

export function startText() {
  at("tau").addEventListener("input", () => (at("tau-now").textContent = at("tau").value));
  at("text-example").addEventListener("click", () => (at("words").value = SAMPLES[at("language").value]));
  at("language").addEventListener("change", () => {
    if (Object.values(SAMPLES).includes(at("words").value)) at("words").value = SAMPLES[at("language").value];
  });
  onSend(at("text-form"), send, () => (at("text-result").hidden = true));
  review = new Review("text", {
    apply: () => at("text-form").requestSubmit(),
    changed: () => at("findings-place").replaceChildren(...findings()),
  });
}

export function setStrategies(available) {
  strategies = available;
}

// Nodes of a text in which stretches are marked: [start, end, kind], in Unicode code points.
export function marked(text, stretches, label = () => "") {
  const letters = Array.from(text);
  const pieces = [];
  let position = 0;
  for (const [start, end, kind] of stretches) {
    const mark = make("mark", { class: kind }, letters.slice(start, end).join(""));
    if (label(kind)) mark.append(make("small", {}, label(kind)));
    pieces.push(letters.slice(position, start).join(""), mark);
    position = end;
  }
  return [...pieces, letters.slice(position).join("")];
}

async function send(signal) {
  const text = at("words").value;
  if (!text.trim()) throw new Missing("type or paste a text first", at("words"));
  const query = new URLSearchParams({
    lang: at("language").value,
    tau: at("tau").value,
    scope: at("scope").value,
  });
  if (at("text-seed").value) query.set("seed", at("text-seed").value);
  if (at("special").value) query.set("types", [...DEFAULT_KINDS, at("special").value].join(","));
  const decisions = review.fileFor(text);
  const answers = await Promise.all(
    Object.keys(strategies).map(async (name) => {
      query.set("strategy", name);
      return [name, await (await askFor(text, decisions, query, signal)).json()];
    }),
  ).catch((error) => {
    review.loaded = null; // a file that does not fit is not tried again
    throw error;
  });
  const [[, first]] = answers;
  review.show(text, first.decisions);
  at("text-result").replaceChildren(
    review.panel,
    make("div", { id: "findings-place" }, ...findings()),
    ...(first.spans.length ? [] : [nothingMasked("your text")]),
    Object.assign(leakNotice(first), { id: "leak-bound" }),
    ...languageNotice(text, first.languages),
    make("h3", {}, "Replaced"),
    make("div", { class: "strategies" }, ...answers.map(strategyCard)),
  );
  at("text-result").hidden = false;
  at("text").querySelector(".empty").hidden = true;
  return `${counted(first.spans.length, "private value")} found`;
}

function askFor(text, decisions, query, signal) {
  if (!decisions) return ask(`v1/anonymise/text?${query}`, text, signal);
  const form = new FormData();
  form.set("text", new Blob([text])); // a field of text would get other line ends
  form.set("decisions", new Blob([JSON.stringify(decisions)]));
  return ask(`v1/anonymise/text/reviewed?${query}`, form, signal);
}

// The decisions as a table in which each can be changed.
function findings() {
  const { decisions } = review;
  if (!decisions.items.length) return [];
  const rows = [...decisions.items].sort((a, b) => a.start - b.start).map((item) => {
    const id = `masked-${item.start}`;
    const box = make("input", { type: "checkbox", id, "aria-describedby": "findings-about" });
    box.checked = item.mask;
    box.addEventListener("change", () => {
      review.decide(item, box.checked);
      at(id).focus();
    });
    return make(
      "tr",
      {},
      make("th", { scope: "row", class: "words" }, make("label", { for: id }, box, decisions.said(item))),
      make("td", { class: "words" }, KINDS[item.kind] ?? item.kind),
      make("td", { class: "words" }, item.by === "person" ? "you" : item.rule),
      make("td", {}, `${Math.round(100 * item.score)} %`),
    );
  });
  const head = ["Masked", "Type", "Rule"].map((title) => make("th", { scope: "col", class: "words" }, title));
  const about =
    "A rule is a tagger trained on written or on spoken text, the pattern that fits, or you. " +
    "What is not masked stays in the text.";
  const table = make(
    "table",
    { id: "findings" },
    make("caption", { id: "findings-about" }, about),
    make("thead", {}, make("tr", {}, ...head, make("th", { scope: "col" }, "Certain"))),
    make("tbody", {}, ...rows),
  );
  return [make("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "What was found" }, table)];
}

const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}\u00a0%`;

// What may be left: a bound only for a kind of text that was measured, else the worst that is known.
export function leakNotice({ guarantee, worst_known: worst }) {
  const unknown = [make("strong", {}, "How much stays unnoticed in your text is not known"), ". "];
  const lines = guarantee
    ? [
        make("strong", {}, `At most ${percent(guarantee.delta)} of private words stay unnoticed in ${guarantee.kind}`),
        `, with 95 % confidence, as measured on ${guarantee.measured_on}. Of texts with ten private `,
        `words, up to ${percent(guarantee.leak_of_text["10"])} keep one. Other kinds of text can be `,
        "worse: read yours again before you release it.",
      ]
    : worst
      ? [
          ...unknown,
          `The worst of any set so far: ${percent(worst.leak)} of the private words of ${worst.measured_on} `,
          "were missed; yours can be worse. Read it again before you release it, or measure a sample: ",
          make("code", {}, "sottovoce anonymise text --label"),
          ".",
        ]
      : [...unknown, "Read it again before you release it."];
  return make("p", { class: "card doubt" }, ...lines);
}

function strategyCard([name, { text, spans }]) {
  const copy = copyButton(`the text by ${name}`, text);
  if (!spans.length) askTwice(copy, "Nothing is masked: copy all the same?");
  const stretches = spans.map((span) => [span.new_start, span.new_end, span.kind]);
  return make(
    "article",
    { class: "strategy", id: `strategy-${name}` },
    make("h4", {}, name),
    copy,
    make("small", {}, strategies[name]),
    make("p", { class: "words", tabindex: "0", role: "group", "aria-label": `Text by ${name}` }, ...marked(text, stretches)),
  );
}
