// Names of languages, and how the languages of a text were decided.
import { make } from "./dom.js";

const MIXED = {
  auto: "Decide by sentence",
  multi: "Several: taggers for all languages",
};
const NAMES = new Intl.DisplayNames(["en"], { type: "language" });

export const languageName = (code) => MIXED[code] ?? NAMES.of(code);

// As which languages the parts of a text were searched; nothing if its language was given.
export function languageNotice(text, parts) {
  if (!parts.length) return [];
  const letters = Array.from(text);
  const words = (part) => letters.slice(part.start, part.end).join("").trim().split(/\s+/).slice(0, 4).join(" ");
  const lines = parts.slice(0, 20).map((part) => {
    const sure = part.searched.length === 1;
    const others = part.searched.slice(1).map(languageName).join(", ");
    return make(
      "li",
      {},
      make("strong", {}, languageName(part.language)),
      ` (${Math.floor(100 * part.probability)} %), from “${words(part)} …”`,
      sure ? "" : `; not sure, so it was searched as ${others} too`,
    );
  });
  if (parts.length > lines.length) lines.push(make("li", {}, `${parts.length - lines.length} further parts`));
  return [make("h3", {}, "Taken as"), make("ul", { id: "text-languages" }, ...lines)];
}
