// A clip in another voice, heard and seen before and after.
import { clip, clipPicker, fileName, whenClipChanges } from "./clip.js";
import { at, choices, make } from "./dom.js";
import { chosenSettings, methodCards, showSettings, toldOf } from "./methods.js";
import { ask, Missing, onSend } from "./service.js";
import { decode } from "./sound.js";
import { axesOf, Track } from "./track.js";

let method = "mcadams";
let before, after, control;

export function startVoice() {
  control = clipPicker(document.querySelector("[data-clip=voice]"), "voice");
  before = new Track(at("voice-before"), "Before");
  after = new Track(at("voice-after"), "After");
  whenClipChanges(onSend(at("voice-form"), send, showClip)); // an answer would be another clip's
  whenClipChanges(showClip);
}

export function showMethods() {
  const options = methodCards().map((one) => ({ value: one.name, label: one.name, words: one.summary }));
  choices(at("methods"), "method", options, method, choose);
  choose(method);
}

function choose(name) {
  method = name;
  at("voice-more").querySelector("summary").textContent = `Settings of ${name}`;
  showSettings(at("settings"), name);
}

function showClip() {
  after.hide();
  at("voice-told").hidden = true;
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
  showTold(used);
  return `Done with ${used}`;
}

function showTold(used) {
  const attributes = { class: "button", id: "voice-save", href: after.player.src, download: fileName(used) };
  const save = make("a", attributes, "Save the anonymised clip");
  at("voice-told").replaceChildren(make("p", { class: "buttons" }, save), toldOf(used));
  at("voice-told").hidden = false;
}
