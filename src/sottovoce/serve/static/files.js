// Places where a file can be dropped, or chosen with mouse or keyboard.
import { make } from "./dom.js";

// A file input that looks like a button; the input has the focus and the name.
export function chooser(id, label, helpId, onFile) {
  const input = make("input", { type: "file", id, class: "unseen", "aria-describedby": helpId });
  input.addEventListener("change", () => {
    if (input.files.length) onFile(input.files[0]);
    input.value = ""; // so that choosing the same file again is a change
  });
  return [input, make("label", { for: id, class: "button" }, label)];
}

export function onDrop(place, onFile) {
  let depth = 0; // dragenter and dragleave are also fired for every child
  const changeDepth = (change) => {
    depth = Math.max(0, depth + change);
    place.classList.toggle("over", depth > 0);
  };
  place.addEventListener("dragenter", (event) => (event.preventDefault(), changeDepth(1)));
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("dragleave", () => changeDepth(-1));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    changeDepth(-depth);
    if (event.dataTransfer.files.length) onFile(event.dataTransfer.files[0]);
  });
}

// A file that is dropped elsewhere must not replace the page.
export function ignoreOtherDrops() {
  for (const kind of ["dragover", "drop"]) {
    window.addEventListener(kind, (event) => event.preventDefault());
  }
}

// A place for one file: `slot.file` is the file, `slot.set` puts another there, `slot.control` is
// the control to focus.
export function fileSlot(id, label, help) {
  const slot = { file: null, set: (file) => setFile(file) };
  const name = make("span", { class: "chosen" }, "no file yet");
  const setFile = (file) => {
    slot.file = file;
    slot.control.removeAttribute("aria-invalid");
    slot.place.classList.add("filled");
    name.textContent = `${file.name}, ${size(file.size)}`;
  };
  const [input, button] = chooser(id, "Choose a file", `${id}-help`, setFile);
  input.setAttribute("aria-label", label);
  slot.control = input;
  slot.place = make(
    "div",
    { class: "drop" },
    make("p", { class: "title" }, make("strong", {}, label), " ", name),
    make("p", { class: "buttons" }, input, button, make("span", { class: "soft" }, "or drop it here")),
    make("small", { id: `${id}-help` }, help),
  );
  onDrop(slot.place, setFile);
  return slot;
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
