// The clip: one for all parts of the page, chosen, dropped, recorded or taken from the example.
import { make, seconds } from "./dom.js";
import { chooser, onDrop } from "./files.js";
import { asWav, decode, record } from "./sound.js";

export const EXAMPLE = "My name is Thomas Fischer, and I live in Rome, on Miller Street.";

const HELP =
  "Drop a recording (WAV, FLAC, OGG or MP3), choose one, speak into your microphone, or take a " +
  "synthetic example.";

export const clip = { blob: null, name: "", sound: null };
const watchers = [];
let newest = 0;

export const whenClipChanges = (action) => watchers.push(action);

async function take(blob, name, example = false) {
  const own = ++newest;
  const sound = await decode(blob).catch(() => null); // the service reads more formats
  if (own !== newest) return; // a long clip is decoded after a short one that was chosen later
  Object.assign(clip, { blob, name, sound, example });
  watchers.forEach((action) => action());
}

function described() {
  if (!clip.blob) return "none yet";
  return clip.sound
    ? `${clip.name}, ${seconds(clip.sound.samples.length / clip.sound.rate)}`
    : `${clip.name}, which this browser cannot play; the service may`;
}

// What an answer is saved as: clip.wav with mcadams becomes clip-mcadams.wav.
export function fileName(what) {
  return `${clip.name.replace(/ \(.*|\.[^.]*$/g, "").replaceAll(" ", "-")}-${what}.wav`;
}

// Fills a place with the ways to a clip; gives back what to focus when there is none.
export function clipPicker(place, id) {
  const help = `${id}-clip-help`;
  const name = make("span", { class: "chosen" });
  const wrong = make("p", { class: "state wrong", role: "status" });
  const [input, choose] = chooser(`${id}-file`, "Choose a file", help, (file) => take(file, file.name));
  input.setAttribute("aria-label", "Clip");
  const explained = { type: "button", "aria-describedby": help };
  const example = make("button", { ...explained, id: `${id}-example` }, "Example");
  example.addEventListener("click", async () => {
    take(await (await fetch("static/example.flac")).blob(), "example (a synthetic voice)", true);
  });
  const level = make("meter", { min: 0, max: 1, "aria-label": "Loudness", class: "level" });
  const speak = recordButton({ ...explained, id: `${id}-record` }, level, wrong);
  const box = make(
    "div",
    { class: "drop" },
    make("p", { class: "title" }, make("strong", {}, "Clip"), " ", name),
    make("p", { class: "buttons" }, input, choose, speak, example),
    level,
    wrong,
    make("small", { id: help }, HELP),
  );
  level.hidden = true;
  onDrop(place.closest(".view"), (file) => take(file, file.name));
  place.replaceWith(box);
  const show = () => {
    name.textContent = described();
    box.classList.toggle("filled", clip.sound !== null);
    input.removeAttribute("aria-invalid");
    wrong.textContent = "";
  };
  whenClipChanges(show);
  show();
  return input;
}

function recordButton(attributes, level, wrong) {
  const button = make("button", { ...attributes, "aria-pressed": "false" }, "Record");
  let end = null;
  let asking = false; // for the microphone: a second one would never be closed
  const pressed = (yes) => {
    button.textContent = yes ? "Stop" : "Record";
    button.setAttribute("aria-pressed", String(yes));
    level.hidden = !yes;
  };
  button.addEventListener("click", async () => {
    if (asking) return;
    wrong.textContent = "";
    try {
      if (end === null) {
        asking = true;
        end = await record((loudness) => (level.value = loudness)).finally(() => (asking = false));
        pressed(true);
        return;
      }
      const finish = end;
      end = null;
      pressed(false);
      await take(asWav(await finish()), "your recording");
    } catch {
      wrong.textContent = "No sound came from a microphone; allow it, or choose a file.";
    }
  });
  return button;
}
