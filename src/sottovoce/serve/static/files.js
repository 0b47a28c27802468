// Places to drop a file, or to choose it with mouse or keyboard.
import { make } from "./dom.js";

// A file input that looks like a button: the input keeps the focus and the name.
export function chooser(id, label, helpId, take) {
  const input = make("input", { type: "file", id, class: "unseen", "aria-describedby": helpId });
  input.addEventListener("change", () => {
    if (input.files.length) take(input.files[0]);
    input.value = ""; // the same file may be chosen again
  });
  return [input, make("label", { for: id, class: "button" }, label)];
}

export function onDrop(place, take) {
  let inside = 0; // enter and leave come for every child too
  const over = (change) => {
    inside = Math.max(0, inside + change);
    place.classList.toggle("over", inside > 0);
  };
  place.addEventListener("dragenter", (event) => (event.preventDefault(), over(1)));
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("dragleave", () => over(-1));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    over(-inside);
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
}

// A file dropped beside a place must not replace the page.
export function ignoreOtherDrops() {
  for (const kind of ["dragover", "drop"]) {
    window.addEventListener(kind, (event) => event.preventDefault());
  }
}

// A place for one file; `slot.file` is what is in it, `slot.control` what to focus.
export function fileSlot(id, label, help) {
  const slot = { file: null };
  const name = make("span", { class: "chosen" }, "no file yet");
  const take = (file) => {
    slot.file = file;
    slot.control.removeAttribute("aria-invalid");
    slot.place.classList.add("filled");
    name.textContent = `${file.name}, ${size(file.size)}`;
  };
  const [input, button] = chooser(id, "Choose a file", `${id}-help`, take);
  input.setAttribute("aria-label", label);
  slot.control = input;
  slot.place = make(
    "div",
    { class: "drop" },
    make("p", { class: "title" }, make("strong", {}, label), " ", name),
    make("p", { class: "buttons" }, input, button, make("span", { class: "soft" }, "or drop it here")),
    make("small", { id: `${id}-help` }, help),
  );
  onDrop(slot.place, take);
  return slot;
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
