// A clip in another voice, to hear and see before and after.
import { clip, clipPicker, fileName, whenClipChanges } from "./clip.js";
import { at, choices, make } from "./dom.js";
import {
  chosenSettings, methodCards, methodNotes, methodTitle, recommendations, showSettings, strength,
} from "./methods.js";
import { ask, Missing, onSend } from "./service.js";
import { decode } from "./sound.js";
import { axesOf, Track } from "./track.js";

let method = "mcadams";
let before, after, control;

export function startVoice() {
  control = clipPicker(document.querySelector("[data-clip=voice]"), "voice");
  before = new Track(at("voice-before"), "Before");
  after = new Track(at("voice-after"), "After");
  whenClipChanges(onSend(at("voice-form"), send, showClip)); // the answer would belong to the previous clip
  whenClipChanges(showClip);
}

export function showMethods() {
  const options = methodCards().map((card) => ({
    value: card.name,
    label: methodTitle(card.name),
    help: [card.summary, make("span", { class: "strength" }, strength(card))],
  }));
  choices(at("methods"), "method", options, method, choose);
  at("which-method").replaceChildren(...recommendations());
  choose(method);
}

function choose(name) {
  method = name;
  at("voice-more").querySelector("summary").textContent = `Settings of ${methodTitle(name)}`;
  showSettings(at("settings"), name);
}

function showClip() {
  after.hide();
  at("voice-notes").hidden = true;
  if (!clip.sound) return before.hide();
  before.show(clip.blob, clip.sound, axesOf(clip.sound));
}

async function send(signal) {
  if (!clip.blob) throw new Missing("choose, drop or record a clip first", control);
  const used = method;
  const query = new URLSearchParams({ method: used, ...chosenSettings(used) });
  if (at("voice-seed").value) query.set("seed", at("voice-seed").value);
  const answer = await (await ask(`v1/anonymise/voice?${query}`, clip.blob, signal)).blob();
  const sound = await decode(answer);
  signal.throwIfAborted();
  const axes = axesOf(clip.sound, sound);
  if (clip.sound) before.show(clip.blob, clip.sound, axes);
  after.show(answer, sound, { ...axes, facts: used });
  showNotes(used);
  return `Done with ${used}`;
}

function showNotes(used) {
  const attributes = { class: "button", id: "voice-save", href: after.player.src, download: fileName(used) };
  const save = make("a", attributes, "Save the anonymised clip");
  at("voice-notes").replaceChildren(make("p", { class: "buttons" }, save), methodNotes(used));
  at("voice-notes").hidden = false;
}
