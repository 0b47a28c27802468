// The page: which part is shown, and what all parts need from the service.
import { showAudits, startAudits } from "./audits.js";
import { whenClipChanges } from "./clip.js";
import { at } from "./dom.js";
import { ignoreOtherDrops } from "./files.js";
import { startMeasures } from "./measures.js";
import { setMethods } from "./methods.js";
import { showVoices, startRecording } from "./recording.js";
import { ask, hasToken } from "./service.js";
import { setStrategies, startText } from "./text.js";
import { showMethods, startVoice } from "./voice.js";

const views = [...document.querySelectorAll(".view")];
const TITLE = document.title;

function showView() {
  const wanted = views.find((one) => `#${one.id}` === location.hash) ?? views[0];
  for (const one of views) one.hidden = one !== wanted;
  for (const link of document.querySelectorAll(".views a")) {
    if (link.hash === `#${wanted.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${wanted.querySelector("h2").textContent} – ${TITLE}`;
  window.scrollTo(0, 0);
  if (wanted.id === "audits") showAudits();
}

async function load() {
  try {
    const { methods } = await (await ask("v1/methods")).json();
    const { languages, strategies } = await (await ask("v1/strategies")).json();
    setMethods(methods);
    setStrategies(strategies);
    showMethods();
    showVoices();
    const names = new Intl.DisplayNames(["en"], { type: "language" });
    for (const id of ["language", "said-language"]) {
      at(id).replaceChildren(...languages.map((one) => new Option(names.of(one), one)));
    }
    at("access").hidden = at("offline").hidden = true;
    document.body.classList.remove("closed");
  } catch (error) {
    at("offline").textContent = error.message;
    at("offline").hidden = !at("access").hidden && !hasToken(); // the field says so itself
    document.body.classList.add("closed");
  }
}

startVoice();
startText();
startRecording();
startMeasures();
startAudits();
whenClipChanges(() => document.querySelectorAll("[data-until=clip]").forEach((one) => (one.hidden = true)));
ignoreOtherDrops();
at("token").addEventListener("change", () => (load(), showView()));
window.addEventListener("hashchange", showView);
showView();
load();
