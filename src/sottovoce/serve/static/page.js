// The page: its four parts, each a form that asks the service and shows the answer.
import { ask, onSend, whenTokenChanges } from "./service.js";
import { asWav, decode, drawTones, drawWave, record } from "./sound.js";

const at = (name) => document.getElementById(name);
let clip = null; // the blob to be sent
let methods = [];

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// ---------------------------------------------------------------------------------- choices

async function load() {
  try {
    ({ methods } = await (await ask("v1/methods")).json());
    const { languages, strategies } = await (await ask("v1/strategies")).json();
    const names = new Intl.DisplayNames(["en"], { type: "language" });
    at("method").replaceChildren(...methods.map((one) => new Option(one.name, one.name)));
    at("language").replaceChildren(...languages.map((one) => new Option(names.of(one), one)));
    at("strategy").replaceChildren(
      ...Object.entries(strategies).map(([name, words]) => new Option(`${name}: ${words}`, name)),
    );
    at("method").value = "mcadams";
    at("strategy").value = "full";
    showMethod();
  } catch (error) {
    at("voice-state").textContent = error.message;
  }
}

function showMethod() {
  const card = methods.find((one) => one.name === at("method").value);
  at("method-help").textContent = card.summary;
  at("leaks").textContent = `What still leaks: ${card.leaks}`;
  at("settings").replaceChildren(...card.settings.map(settingField));
}

function settingField(one) {
  const id = `setting-${one.name}`;
  const field = element("p", undefined, { class: "field" });
  const range = one.low === null ? "" : `${one.low} to ${one.high}`;
  const choices = [range, ...(range ? one.words : [])].filter(Boolean).join(", or ");
  let control;
  if (range) {
    control = element("input", undefined, { type: "text" });
    control.value = one.default;
  } else {
    control = element("select");
    control.append(...one.words.map((word) => new Option(word, word)));
    control.value = one.default;
  }
  control.id = id;
  control.name = one.name;
  control.setAttribute("aria-describedby", `${id}-help`);
  const help = element("small", one.help + (choices ? ` (${choices})` : ""), { id: `${id}-help` });
  field.append(element("label", one.name.replaceAll("_", " "), { for: id }), control, help);
  return field;
}

function chosenSettings() {
  const query = new URLSearchParams({ method: at("method").value });
  const card = methods.find((one) => one.name === at("method").value);
  for (const control of at("settings").querySelectorAll("[name]")) {
    const known = card.settings.find((one) => one.name === control.name);
    if (control.value !== String(known.default)) query.set(control.name, control.value);
  }
  return query;
}

// ------------------------------------------------------------------------------------ voice

function show(name, blob, sound) {
  const player = at(name);
  if (player.src) URL.revokeObjectURL(player.src);
  player.src = URL.createObjectURL(blob);
  drawWave(at(`wave-${name}`), sound);
  drawTones(at(`tones-${name}`), sound);
}

async function anonymiseVoice() {
  if (!clip) throw new Error("choose, drop or record a clip first");
  const answer = await (await ask(`v1/anonymise/voice?${chosenSettings()}`, clip)).blob();
  const before = await decode(clip).catch(() => null);
  const after = await decode(answer);
  at("voice-result").hidden = false;
  if (before) show("before", asWav(before), before);
  show("after", answer, after);
  at("voice-save").href = at("after").src;
  at("voice-save").hidden = false;
  return `Done: ${(after.samples.length / after.rate).toFixed(1)} s.`;
}

let stop = null;
async function toggleRecording() {
  const button = at("record");
  try {
    if (stop === null) {
      stop = await record();
      button.textContent = "Stop";
      button.setAttribute("aria-pressed", "true");
      at("voice-state").textContent = "Recording …";
      return;
    }
    const end = stop;
    stop = null;
    button.textContent = "Record";
    button.setAttribute("aria-pressed", "false");
    clip = await end();
    at("voice-state").textContent = "Recorded.";
  } catch {
    at("voice-state").textContent = "No sound came from a microphone; allow it, or choose a file.";
  }
}

// ------------------------------------------------------------------------------------- text

// Text with stretches marked: [start, end, label] in characters as Python counts them.
function marked(place, text, stretches) {
  const letters = Array.from(text);
  const pieces = [];
  let done = 0;
  for (const [start, end, label] of stretches) {
    const mark = element("mark", letters.slice(start, end).join(""));
    if (label) mark.append(element("small", label));
    pieces.push(letters.slice(done, start).join(""), mark);
    done = end;
  }
  place.replaceChildren(...pieces, letters.slice(done).join(""));
}

async function anonymiseText() {
  const text = at("words").value;
  const query = new URLSearchParams({
    lang: at("language").value,
    strategy: at("strategy").value,
    tau: at("tau").value,
  });
  const found = await (await ask(`v1/anonymise/text?${query}`, text)).json();
  marked(at("found"), text, found.spans.map((one) => [one.start, one.end, one.kind]));
  marked(at("replaced"), found.text, found.spans.map((one) => [one.new_start, one.new_end, ""]));
  at("text-result").hidden = false;
  const count = found.spans.length;
  return count === 1 ? "1 private value found." : `${count} private values found.`;
}

// -------------------------------------------------------------------------------- recording

async function maskRecording() {
  if (!clip) throw new Error("choose, drop or record a clip first");
  const form = new FormData();
  form.set("audio", clip);
  form.set("text", at("said").value);
  const query = new URLSearchParams({
    method: at("change").value === "yes" ? at("method").value : "none",
    lang: at("language").value,
    how: at("how").value,
    typed: "true",
  });
  const found = await (await ask(`v1/anonymise/recording?${query}`, form)).json();
  at("masked").src = found.audio;
  at("masked-text").textContent = found.text;
  at("recording-result").hidden = false;
  return found.masked_words === 1 ? "1 word masked." : `${found.masked_words} words masked.`;
}

// --------------------------------------------------------------------------------- measures

function number(value, unit) {
  if (value === null || value === undefined) return "–";
  return unit === "%" ? `${(100 * value).toFixed(1)} %` : `${value.toFixed(3)} ${unit}`.trim();
}

function measureRow([name, one], { label, unit }) {
  const row = element("tr");
  const interval = one.low === undefined ? "–" : `${number(one.low, unit)} to ${number(one.high, unit)}`;
  row.append(
    element("th", label, { scope: "row" }),
    element("td", number(one.value, unit)),
    element("td", interval),
    element("td", number(one.chance, unit)),
    element("td", one.note || one.direction),
  );
  return row;
}

async function measureScores() {
  const [file] = at("scores").files;
  if (!file) throw new Error("choose or drop a file of scores first");
  const known = await (await ask("v1/measures")).json();
  const found = await (await ask("v1/measure", file)).json();
  const rows = Object.entries(found.measures).map((one) => measureRow(one, known[one[0]]));
  at("measures").replaceChildren(...rows);
  at("measure-caption").textContent =
    `${found.n_mated} mated and ${found.n_nonmated} non-mated scores. ${found.tag}: ` +
    found.tag_meaning;
  at("measure-result").hidden = false;
  return ["Measured.", ...found.warnings].join(" ");
}

// ------------------------------------------------------------------------------------ wiring

for (const place of document.querySelectorAll(".drop")) {
  const input = at(place.dataset.for);
  const over = (event, yes) => {
    event.preventDefault();
    place.classList.toggle("over", yes);
  };
  place.addEventListener("dragover", (event) => over(event, true));
  place.addEventListener("dragleave", (event) => over(event, false));
  place.addEventListener("drop", (event) => {
    over(event, false);
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
}
at("voice-file").addEventListener("change", () => {
  clip = at("voice-file").files[0] || null;
});
at("record").addEventListener("click", toggleRecording);
at("method").addEventListener("change", showMethod);
whenTokenChanges(load);
onSend(at("voice-form"), at("voice-state"), anonymiseVoice);
onSend(at("text-form"), at("text-state"), anonymiseText);
onSend(at("recording-form"), at("recording-state"), maskRecording);
onSend(at("measure-form"), at("measure-state"), measureScores);
load();
