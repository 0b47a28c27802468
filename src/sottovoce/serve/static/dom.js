// Elements made and found.

export const at = (id) => document.getElementById(id);

// make("p", { class: "soft" }, "text", node, …); a value of undefined leaves an attribute out.
export function make(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...content.filter((one) => one !== undefined && one !== ""));
  return made;
}

// A control with its name and the sentence that explains it.
export function field(label, control, help) {
  control.setAttribute("aria-describedby", `${control.id}-help`);
  return make(
    "p",
    { class: "field" },
    make("label", { for: control.id }, label),
    control,
    make("small", { id: `${control.id}-help` }, help),
  );
}

export function select(id, options, chosen) {
  const made = make("select", { id, name: id });
  made.append(...options.map(([value, words]) => new Option(words, value)));
  if (chosen !== undefined) made.value = chosen;
  return made;
}

// One of several, each with a sentence: radio buttons in a list.
export function choices(place, name, options, chosen, change) {
  place.replaceChildren(
    ...options.map(({ value, label, words }) => {
      const id = `${name}-${value}`;
      const button = make("input", { type: "radio", id, name, value, "aria-describedby": `${id}-help` });
      button.checked = value === chosen;
      button.addEventListener("change", () => change(value));
      return make(
        "div",
        { class: "choice" },
        button,
        make("label", { for: id }, label),
        make("small", { id: `${id}-help` }, words),
      );
    }),
  );
}

// A button that puts a text on the clipboard and says so.
export function copyButton(what, text) {
  const button = make("button", { type: "button", class: "small", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return button;
}

export const seconds = (value) => `${value.toFixed(1)}\u00a0s`;

export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
