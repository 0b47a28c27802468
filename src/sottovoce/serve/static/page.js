// The page: which part is shown, and the lists that all parts need from the service.
import { showAudits, startAudits } from "./audits.js";
import { whenClipChanges } from "./clip.js";
import { at } from "./dom.js";
import { ignoreOtherDrops } from "./files.js";
import { languageName } from "./languages.js";
import { setLinkages, startMeasures } from "./measures.js";
import { setMethods } from "./methods.js";
import { showVoices, startRecording } from "./recording.js";
import { ask, hasToken } from "./service.js";
import { setStrategies, startText } from "./text.js";
import { showMethods, startVoice } from "./voice.js";

const views = [...document.querySelectorAll(".view")];
const TITLE = document.title;

function showView() {
  const current = views.find((view) => `#${view.id}` === location.hash) ?? views[0];
  for (const view of views) view.hidden = view !== current;
  for (const link of document.querySelectorAll(".views a")) {
    if (link.hash === `#${current.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${current.querySelector("h2").textContent} – ${TITLE}`;
  window.scrollTo(0, 0);
  if (current.id === "audits") showAudits();
}

async function load() {
  try {
    const methods = await (await ask("v1/methods")).json();
    const { languages, strategies } = await (await ask("v1/strategies")).json();
    const { linkages } = await (await ask("v1/choices")).json();
    setMethods(methods);
    setLinkages(linkages);
    setStrategies(strategies);
    showMethods();
    showVoices();
    for (const id of ["language", "transcript-language"]) {
      at(id).replaceChildren(...languages.map((code) => new Option(languageName(code), code)));
    }
    at("access").hidden = at("offline").hidden = true;
    document.body.classList.remove("closed");
  } catch (error) {
    at("offline").textContent = error.message;
    at("offline").hidden = !at("access").hidden && !hasToken(); // the field for the token already says so
    document.body.classList.add("closed");
  }
}

startVoice();
startText();
startRecording();
startMeasures();
startAudits();
whenClipChanges(() => document.querySelectorAll("[data-until=clip]").forEach((hint) => (hint.hidden = true)));
ignoreOtherDrops();
at("token").addEventListener("change", () => (load(), showView()));
window.addEventListener("hashchange", showView);
showView();
load();
