// Helpers that create and look up elements.

export const at = (id) => document.getElementById(id);

// make("p", { class: "soft" }, "text", node, …); attributes that are undefined are left out.
export function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...content.filter((node) => node !== undefined && node !== ""));
  return element;
}

// A control with its label and a sentence that explains it.
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
  const element = make("select", { id, name: id });
  element.append(...options.map(([value, label]) => new Option(label, value)));
  if (chosen !== undefined) element.value = chosen;
  return element;
}

// A list of radio buttons, each with a sentence that explains it.
export function choices(place, name, options, chosen, change) {
  place.replaceChildren(
    ...options.map(({ value, label, help }) => {
      const id = `${name}-${value}`;
      const button = make("input", { type: "radio", id, name, value, "aria-describedby": `${id}-help` });
      button.checked = value === chosen;
      button.addEventListener("change", () => change(value));
      return make(
        "div",
        { class: "choice" },
        button,
        make("label", { for: id }, label),
        make("small", { id: `${id}-help` }, ...[help].flat()),
      );
    }),
  );
}

// A button that copies a text to the clipboard and shows that it did.
export function copyButton(description, text) {
  const button = make("button", { type: "button", class: "small" });
  const show = (label, name) => {
    button.textContent = label;
    button.setAttribute("aria-label", name); // begins with the visible label
  };
  const reset = () => show("Copy", `Copy ${description}`);
  reset();
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      show("Copied", `Copied: ${description}`);
    } catch {
      show("Not allowed", `Not allowed: copy ${description}`);
    }
    setTimeout(reset, 2000);
  });
  return button;
}

export const seconds = (value) => `${value.toFixed(1)}\u00a0s`;

export function counted(number, singular, plural = `${singular}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? singular : plural}`;
}
