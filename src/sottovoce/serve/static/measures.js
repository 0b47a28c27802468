// Scores and embeddings to measures and figures, as the service lays them out.
import { at, choices, field, make, select } from "./dom.js";
import { fileSlot } from "./files.js";
import { ask, Missing, onSend } from "./service.js";

const EMBEDDINGS =
  "A .npz with arrays vectors and speakers, or a .parquet, as sottovoce embed writes them.";
const TRAIN = { train: ["Other speakers", `To learn from, for a comparison that learns. ${EMBEDDINGS}`] };
const KALDI = {
  trials: [
    "Trials of Kaldi",
    "Lines of enrol, trial and target or nontarget; then the scores are lines of enrol, trial and score.",
  ],
  utt2spk: ["utt2spk of Kaldi", "Lines of utterance and speaker, for intervals by speaker."],
};

const LINKAGES = [
  ["cosine", "cosine"],
  ["euclidean", "Euclidean distance"],
  ["whitening", "whitening, learnt"],
  ["projection", "projection, learnt"],
  ["plda", "PLDA, learnt"],
];
const INTERVALS = [["0.95", "95 %"], ["0.99", "99 %"], ["0", "none"]];

const linkage = () =>
  field(
    "Comparison",
    select("linkage", LINKAGES),
    "What turns two embeddings into a score; those that learn do so from other speakers.",
  );
const interval = () =>
  field(
    "Intervals",
    select("interval", INTERVALS),
    "How sure the range around each value is to hold the true one; none is fastest.",
  );

function written(id, label, value, help) {
  const made = make("input", { id, name: id, type: "text", inputmode: "numeric" });
  made.value = value;
  return field(label, made, help);
}

const crowds = () => [
  written("lengths", "Recordings a person", "1,3,30", "How many recordings of a person the attacker has, with commas between."),
  written("populations", "Crowds", "", "Among how many people he looks, with commas between; empty: up to all."),
  written("top", "Top", "20", "A list of so many candidates counts as a hit if the person is on it."),
];

const QUESTIONS = {
  scores: {
    label: "Can pairs be told apart?",
    words: "Scores of an attacker: EER, Cllr, D_ECE, linkability, rare but sure hits.",
    path: "v1/measure",
    files: {
      scores: [
        "Scores",
        "A .csv or .tsv with columns score and label, a .npz with arrays mated and nonmated, or a .parquet.",
      ],
    },
    more: KALDI,
    settings: () => [interval()],
    form: "Scores say how alike two recordings are to an attacker; the label is 1 if both are of one speaker. As a table:",
    sample: "score,label\n 2.31,1\n-0.48,0\n 1.07,1",
  },
  similarity: {
    label: "Are voices still like themselves?",
    words: "Embeddings before and after: similarity matrices, de-identification, distinctiveness.",
    path: "v1/similarity",
    files: {
      original: ["Original", EMBEDDINGS],
      anonymised: ["Anonymised", `Of the same recordings after anonymisation. ${EMBEDDINGS}`],
    },
    more: TRAIN,
    settings: () => [linkage(), interval()],
    form: "Make both files from the recordings before and after:",
    sample: "sottovoce embed originals/ original.npz\nsottovoce embed anonymised/ anonymised.npz",
  },
  reidentify: {
    label: "Are people found among others?",
    words: "Embeddings known and unknown: singling out, linkability and rank in growing crowds.",
    path: "v1/reidentify",
    files: {
      enrol: ["Enrolment", `Speech whose speakers the attacker knows. ${EMBEDDINGS}`],
      trial: ["Trials", `Speech whose speakers he looks for. ${EMBEDDINGS}`],
    },
    more: TRAIN,
    settings: () => [linkage(), interval(), ...crowds()],
    form: "Make both files from speech the attacker knows and speech he looks at:",
    sample: "sottovoce embed known/ enrol.npz\nsottovoce embed unknown/ trial.npz",
  },
};

let question = "scores";
let slots = {};

export function startMeasures() {
  const options = Object.entries(QUESTIONS).map(([value, { label, words }]) => ({ value, label, words }));
  choices(at("questions"), "question", options, question, choose);
  choose(question);
  onSend(at("measures-form"), send, () => (at("measure-result").hidden = true));
}

function choose(name) {
  question = name;
  const { files, more, settings, form, sample } = QUESTIONS[name];
  const made = Object.entries({ ...files, ...more }).map(([id, [label, help]]) => [id, fileSlot(id, label, help)]);
  slots = Object.fromEntries(made);
  const places = (ids) => Object.keys(ids).map((id) => slots[id].place);
  at("measure-files").replaceChildren(...places(files));
  at("measure-more").replaceChildren(...places(more));
  at("measure-settings").replaceChildren(...settings());
  at("measure-form-of").textContent = form;
  at("measure-sample").textContent = sample;
}

async function send(signal) {
  const { path, files } = QUESTIONS[question];
  const needed = slots.utt2spk?.file ? [...Object.keys(files), "trials"] : Object.keys(files);
  for (const { file, control } of needed.map((id) => slots[id])) {
    if (!file) throw new Missing(`choose or drop a file: ${control.getAttribute("aria-label")}`, control);
  }
  const query = new URLSearchParams({ format: "html" });
  for (const one of at("measure-settings").querySelectorAll("[name]")) {
    if (one.value) query.set(one.name, one.value);
  }
  const form = new FormData();
  for (const [id, { file }] of Object.entries(slots)) if (file) form.set(id, file);
  showReport(await (await ask(`${path}?${query}`, form, signal)).text());
  return "Measured";
}

// A report of the service within this page: its content without its frame; it has no scripts.
function showReport(html) {
  const report = new DOMParser().parseFromString(html, "text/html");
  const main = report.querySelector("main");
  const title = make("h3", {}, report.querySelector("h1").textContent);
  at("measure-result").replaceChildren(title, ...main.childNodes);
  at("measure-result").hidden = false;
  at("measures").querySelector(".empty").hidden = true;
}
