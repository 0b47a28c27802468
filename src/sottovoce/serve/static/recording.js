// A clip with its text, both without the private words.
import { clip, clipPicker, EXAMPLE, fileName, whenClipChanges } from "./clip.js";
import { at, copyButton, counted, make } from "./dom.js";
import { methodCards, toldOf } from "./methods.js";
import { ask, Missing, onSend } from "./service.js";
import { decode } from "./sound.js";
import { KINDS, marked } from "./text.js";
import { axesOf, Track } from "./track.js";

const KEPT = "none";
let before, after, control;

export function startRecording() {
  control = clipPicker(document.querySelector("[data-clip=recording]"), "recording");
  before = new Track(at("recording-before"), "Before");
  after = new Track(at("recording-after"), "Masked");
  whenClipChanges(showWords);
  whenClipChanges(onSend(at("recording-form"), send, showClip)); // an answer would be another clip's
  whenClipChanges(showClip);
}

export function showVoices() {
  const voices = methodCards().map((one) => new Option(`changed by ${one.name}`, one.name));
  at("change").replaceChildren(...voices, new Option("kept as it is", KEPT));
  at("change").value = "voicemask"; // words are found behind it more often than behind the others
}

// The example brings its words, and takes them away.
function showWords() {
  if (clip.example) {
    at("said").value = EXAMPLE;
    at("said-language").value = "en";
  } else if (at("said").value === EXAMPLE) at("said").value = "";
}

function showClip() {
  after.hide();
  at("recording-told").hidden = true;
  if (!clip.sound) return before.hide();
  before.show(clip.blob, clip.sound, axesOf(clip.sound));
}

async function send(signal) {
  if (!clip.blob) throw new Missing("choose, drop or record a clip first", control);
  if (!at("said").value.trim()) throw new Missing("type what is said in the clip", at("said"));
  const form = new FormData();
  form.set("audio", clip.blob);
  form.set("text", at("said").value);
  const used = at("change").value;
  const query = new URLSearchParams({
    method: used,
    lang: at("said-language").value,
    how: at("how").value,
    words: at("further").value,
    typed: "true",
  });
  const found = await (await ask(`v1/anonymise/recording?${query}`, form, signal)).json();
  const blob = fromDataUrl(found.audio);
  const sound = await decode(blob);
  signal.throwIfAborted();
  const axes = axesOf(clip.sound, sound);
  const stretches = (side) => found.spans.map((one) => [...one[side], one.kinds.map(plain).join(", ")]);
  if (clip.sound) before.show(clip.blob, clip.sound, { ...axes, stretches: stretches("before") });
  after.show(blob, sound, { ...axes, stretches: stretches("after"), facts: used === KEPT ? "" : used });
  showTold(found.text, used);
  return `${counted(found.masked_words, "word")} masked`;
}

const plain = (kind) => KINDS[kind] ?? "private";

// The service answers with base64 in a data URL; a policy that lets no data be fetched stays whole.
function fromDataUrl(url) {
  const [head, data] = url.split(",");
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  return new Blob([bytes], { type: head.slice(5).split(";")[0] });
}

function showTold(text, used) {
  const stretches = Array.from(text.matchAll(/<[A-Z+]+>/g), (one) => {
    const start = Array.from(text.slice(0, one.index)).length;
    return [start, start + one[0].length, one[0].match(/[A-Z]+/)[0]];
  });
  const attributes = { class: "button", id: "recording-save", href: after.player.src, download: fileName("masked") };
  const save = make("a", attributes, "Save the masked recording");
  at("recording-told").replaceChildren(
    make("h3", {}, "Its text"),
    make("p", { class: "words", id: "masked-text" }, ...marked(text, stretches)),
    make("p", { class: "buttons" }, save, copyButton("the masked text", text)),
    ...(used === KEPT ? [keptVoice()] : [toldOf(used)]),
  );
  at("recording-told").hidden = false;
}

function keptVoice() {
  const verdict = make("strong", {}, "The voice is the speaker's own.");
  return make("p", { class: "card bad" }, verdict, " Words are gone, but who speaks can still be recognised.");
}
