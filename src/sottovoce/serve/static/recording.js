// A clip and its text, both without the private words.
import { clip, clipPicker, EXAMPLE, fileName, whenClipChanges } from "./clip.js";
import { at, copyButton, counted, make } from "./dom.js";
import { methodCards, methodNotes, methodTitle } from "./methods.js";
import { ask, Missing, onSend } from "./service.js";
import { decode } from "./sound.js";
import { plainKind } from "./kinds.js";
import { askTwice, nothingMasked, Review } from "./review.js";
import { Stretches } from "./stretches.js";
import { leakNotice, marked } from "./text.js";
import { axesOf, Track } from "./track.js";

const KEEP_VOICE = "none";
let before, after, control, review, stretches;

export function startRecording() {
  control = clipPicker(document.querySelector("[data-clip=recording]"), "recording");
  before = new Track(at("recording-before"), "Before");
  after = new Track(at("recording-after"), "Masked");
  review = new Review("recording", { apply: () => at("recording-form").requestSubmit() });
  stretches = new Stretches("recording", review, before);
  whenClipChanges(() => review.clear());
  whenClipChanges(showTranscript);
  whenClipChanges(onSend(at("recording-form"), send, showClip)); // the answer would belong to the previous clip
  whenClipChanges(showClip);
}

export function showVoices() {
  const voices = methodCards().map(({ name }) => new Option(`changed: ${methodTitle(name)}`, name));
  at("change").replaceChildren(...voices, new Option("kept as it is", KEEP_VOICE));
  at("change").value = "voicemask";
}

// The example comes with its transcript, which goes when another clip is chosen.
function showTranscript() {
  if (clip.example) {
    at("transcript").value = EXAMPLE;
    at("transcript-language").value = "en";
  } else if (at("transcript").value === EXAMPLE) at("transcript").value = "";
}

function showClip() {
  after.hide();
  at("recording-notes").hidden = true;
  if (!clip.sound) return before.hide();
  before.show(clip.blob, clip.sound, axesOf(clip.sound));
}

async function send(signal) {
  if (!clip.blob) throw new Missing("choose, drop or record a clip first", control);
  if (!at("transcript").value.trim()) throw new Missing("type what is said in the clip", at("transcript"));
  const form = new FormData();
  form.set("audio", clip.blob);
  form.set("text", at("transcript").value);
  const method = at("change").value;
  const query = new URLSearchParams({
    method,
    lang: at("transcript-language").value,
    mask: at("mask").value,
    words: at("further").value,
    typed: "true",
  });
  const decisions = review.fileFor(at("transcript").value.trim().split(/\s+/).join(" "));
  if (decisions) form.set("decisions", new Blob([JSON.stringify(decisions)]));
  const answer = await ask(`v1/anonymise/recording?${query}`, form, signal)
    .catch((error) => {
      review.loaded = null; // a file that does not fit is not tried again
      throw error;
    })
    .then((reply) => reply.json());
  const blob = fromDataUrl(answer.audio);
  const sound = await decode(blob);
  signal.throwIfAborted();
  const axes = axesOf(clip.sound, sound);
  const masks = (side) => answer.spans.map((span) => [...span[side], span.kinds.map(plainKind).join(", ")]);
  if (clip.sound) before.show(clip.blob, clip.sound, { ...axes, stretches: masks("before") });
  after.show(blob, sound, { ...axes, stretches: masks("after"), facts: method === KEEP_VOICE ? "" : method });
  review.show(answer.transcript, answer.decisions);
  stretches.draw();
  showText(answer, method);
  return `${counted(answer.masked_words, "word")} masked`;
}

// The service answers with a data URL in base64. It is decoded here because the content security
// policy does not allow it to be fetched.
function fromDataUrl(url) {
  const [head, data] = url.split(",");
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  return new Blob([bytes], { type: head.slice(5).split(";")[0] });
}

function showText(answer, method) {
  const { text } = answer;
  const labels = Array.from(text.matchAll(/<[A-Z+]+>/g), (match) => {
    const start = Array.from(text.slice(0, match.index)).length;
    return [start, start + match[0].length, match[0].match(/[A-Z]+/)[0]];
  });
  const attributes = { class: "button", id: "recording-save", href: after.player.src, download: fileName("masked") };
  const save = make("a", attributes, "Save the masked recording");
  const unmasked = answer.spans.length === 0;
  if (unmasked) askTwice(save, "Nothing is masked: save all the same?");
  at("recording-notes").replaceChildren(
    review.panel,
    stretches.panel,
    ...(unmasked ? [nothingMasked("the recording")] : []),
    make("h3", {}, "Its text"),
    make("p", { class: "words", id: "masked-text" }, ...marked(text, labels)),
    Object.assign(leakNotice(answer), { id: "recording-leak" }),
    make("p", { class: "buttons" }, save, copyButton("the masked text", text)),
    ...(method === KEEP_VOICE ? [keptVoice()] : [methodNotes(method)]),
  );
  at("recording-notes").hidden = false;
}

function keptVoice() {
  const verdict = make("strong", {}, "The voice is the speaker's own.");
  return make("p", { class: "card bad" }, verdict, " Words are gone, but who speaks can still be recognised.");
}
