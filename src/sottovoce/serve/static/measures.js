// Measures and figures of scores and embeddings, as the service lays them out.
import { at, choices, field, make, select } from "./dom.js";
import { fileSlot } from "./files.js";
import { ask, Missing, onSend } from "./service.js";

const EMBEDDINGS =
  "A .npz with arrays vectors and speakers, or a .parquet, as sottovoce embed writes them.";
const TRAIN = { train: ["Other speakers", `Training data for a comparison that is trained. ${EMBEDDINGS}`] };
const KALDI = {
  trials: [
    "Trials of Kaldi",
    "Lines of enrol, trial and target or nontarget; then the scores are lines of enrol, trial and score.",
  ],
  utt2spk: ["utt2spk of Kaldi", "Lines of utterance and speaker, for intervals by speaker."],
};

let linkages = []; // linkage functions that the service has
const INTERVALS = [["0.95", "95 %"], ["0.99", "99 %"], ["0", "none"]];

const linkageOptions = () =>
  linkages.map(({ name, needs_training }) => [name, needs_training ? `${name}, trained` : name]);
const linkage = () =>
  field(
    "Comparison",
    select("linkage", linkageOptions()),
    "The linkage function, which turns two embeddings into a score; trained ones need other speakers.",
  );
const interval = () =>
  field(
    "Intervals",
    select("interval", INTERVALS),
    "Confidence of the interval around each value; none is fastest.",
  );

function textField(id, label, value, help) {
  const input = make("input", { id, name: id, type: "text", inputmode: "numeric" });
  input.value = value;
  return field(label, input, help);
}

const populationFields = () => [
  textField("lengths", "Recordings per person", "1,3,30", "How many recordings of a person the attacker has, separated by commas."),
  textField("populations", "Populations", "", "Among how many people the attacker searches, separated by commas; empty: up to all."),
  textField("top", "Top", "20", "A list of this many candidates counts as a hit if the person is on it."),
];

const QUESTIONS = {
  scores: {
    label: "Can pairs be told apart?",
    help: "Scores of an attacker: EER, Cllr, D_ECE, D_sys, rare but sure hits.",
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
    help: "Embeddings before and after: similarity matrices, de-identification, distinctiveness.",
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
    help: "Embeddings known and unknown: singling out, linkability and rank in growing populations.",
    path: "v1/reidentify",
    files: {
      enrol: ["Enrolment", `Speech whose speakers the attacker knows. ${EMBEDDINGS}`],
      trial: ["Trials", `Speech whose speakers the attacker searches. ${EMBEDDINGS}`],
    },
    more: TRAIN,
    settings: () => [linkage(), interval(), ...populationFields()],
    form: "Make both files from speech that the attacker knows and speech to identify:",
    sample: "sottovoce embed known/ enrol.npz\nsottovoce embed unknown/ trial.npz",
  },
};

// Files of synthetic speakers, one for each place of a question.
const EXAMPLES = {
  scores: { scores: "scores.csv" },
  similarity: { original: "original.npz", anonymised: "anonymised.npz" },
  reidentify: { enrol: "enrol.npz", trial: "anonymised.npz" },
};

let question = "scores";
let slots = {};

export function setLinkages(available) {
  linkages = available;
  at("linkage")?.replaceChildren(...linkageOptions().map(([value, label]) => new Option(label, value)));
}

export function startMeasures() {
  const options = Object.entries(QUESTIONS).map(([value, { label, help }]) => ({ value, label, help }));
  choices(at("questions"), "question", options, question, choose);
  choose(question);
  at("measure-example").addEventListener("click", fillExample);
  onSend(at("measures-form"), send, () => (at("measure-result").hidden = true));
}

function choose(name) {
  question = name;
  const { files, more, settings, form, sample } = QUESTIONS[name];
  const entries = Object.entries({ ...files, ...more }).map(([id, [label, help]]) => [id, fileSlot(id, label, help)]);
  slots = Object.fromEntries(entries);
  const places = (ids) => Object.keys(ids).map((id) => slots[id].place);
  at("measure-files").replaceChildren(...places(files));
  at("measure-more").replaceChildren(...places(more));
  at("measure-settings").replaceChildren(...settings());
  at("measure-form-of").textContent = form;
  at("measure-sample").textContent = sample;
}

async function fillExample() {
  for (const [id, name] of Object.entries(EXAMPLES[question])) {
    const answer = await fetch(`static/example/${name}`);
    slots[id].set(new File([await answer.blob()], name));
  }
}

async function send(signal) {
  const { path, files } = QUESTIONS[question];
  const needed = slots.utt2spk?.file ? [...Object.keys(files), "trials"] : Object.keys(files);
  for (const { file, control } of needed.map((id) => slots[id])) {
    if (!file) throw new Missing(`choose or drop a file: ${control.getAttribute("aria-label")}`, control);
  }
  const query = new URLSearchParams({ format: "html" });
  for (const control of at("measure-settings").querySelectorAll("[name]")) {
    if (control.value) query.set(control.name, control.value);
  }
  const form = new FormData();
  for (const [id, { file }] of Object.entries(slots)) if (file) form.set(id, file);
  showReport(await (await ask(`${path}?${query}`, form, signal)).text());
  return "Measured";
}

// Shows the content of a report of the service within this page; reports have no scripts.
function showReport(html) {
  const report = new DOMParser().parseFromString(html, "text/html");
  const main = report.querySelector("main");
  const title = make("h3", {}, report.querySelector("h1").textContent);
  at("measure-result").replaceChildren(title, ...main.childNodes);
  at("measure-result").hidden = false;
  at("measures").querySelector(".empty").hidden = true;
}
