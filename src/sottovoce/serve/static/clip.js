// The clip that all parts of the page share: chosen, dropped, recorded, or the example.
import { make, seconds } from "./dom.js";
import { chooser, onDrop } from "./files.js";
import { asWav, decode, record } from "./sound.js";

export const EXAMPLE = "My name is Thomas Fischer, and I live in Rome, on Miller Street.";

const HELP =
  "Drop a recording (WAV, FLAC, OGG or MP3), choose one, speak into your microphone, or take a " +
  "synthetic example.";

export const clip = { blob: null, name: "", sound: null };
const listeners = [];
let latest = 0;

export const whenClipChanges = (action) => listeners.push(action);

async function setClip(blob, name, example = false) {
  const number = ++latest;
  const sound = await decode(blob).catch(() => null); // the service reads more formats than the browser
  if (number !== latest) return; // another clip was chosen while this one was decoded
  Object.assign(clip, { blob, name, sound, example });
  listeners.forEach((action) => action());
}

function description() {
  if (!clip.blob) return "none yet";
  return clip.sound
    ? `${clip.name}, ${seconds(clip.sound.samples.length / clip.sound.rate)}`
    : `${clip.name}, which this browser cannot play; the service may`;
}

// Name of a saved answer: clip.wav with mcadams becomes clip-mcadams.wav.
export function fileName(ending) {
  return `${clip.name.replace(/ \(.*|\.[^.]*$/g, "").replaceAll(" ", "-")}-${ending}.wav`;
}

// Puts the controls that choose a clip into a place; returns the control to focus if there is none.
export function clipPicker(place, id) {
  const help = `${id}-clip-help`;
  const name = make("span", { class: "chosen" });
  const wrong = make("p", { class: "state wrong", role: "status" });
  const [input, choose] = chooser(`${id}-file`, "Choose a file", help, (file) => setClip(file, file.name));
  input.setAttribute("aria-label", "Clip");
  const explained = { type: "button", "aria-describedby": help };
  const example = make("button", { ...explained, id: `${id}-example` }, "Example");
  example.addEventListener("click", async () => {
    setClip(await (await fetch("static/example.flac")).blob(), "example (a synthetic voice)", true);
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
  onDrop(place.closest(".view"), (file) => setClip(file, file.name));
  place.replaceWith(box);
  const show = () => {
    name.textContent = description();
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
  let stop = null;
  let waiting = false; // for access to the microphone; a second stream would never be closed
  const showRecording = (recording) => {
    button.textContent = recording ? "Stop" : "Record";
    button.setAttribute("aria-pressed", String(recording));
    level.hidden = !recording;
  };
  button.addEventListener("click", async () => {
    if (waiting) return;
    wrong.textContent = "";
    try {
      if (stop === null) {
        waiting = true;
        stop = await record((loudness) => (level.value = loudness)).finally(() => (waiting = false));
        showRecording(true);
        return;
      }
      const finish = stop;
      stop = null;
      showRecording(false);
      await setClip(asWav(await finish()), "your recording");
    } catch {
      wrong.textContent = "No sound came from a microphone; allow it, or choose a file.";
    }
  });
  return button;
}
