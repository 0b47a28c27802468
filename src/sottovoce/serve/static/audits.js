// The list of audits in the folder that --audits names, and their reports.
import { at, counted, make } from "./dom.js";
import { ask, hasToken } from "./service.js";

export function startAudits() {
  at("audits-again").addEventListener("click", showAudits);
}

export async function showAudits() {
  const state = at("audits-state");
  state.classList.remove("wrong");
  state.textContent = "Looking …";
  try {
    const { shown, audits } = await (await ask("v1/audits")).json();
    at("audits-list").replaceChildren(...(audits.length ? audits.map(auditCard) : [empty(shown)]));
    state.textContent = audits.length ? `${counted(audits.length, "audit")}, the newest first.` : "";
  } catch (error) {
    showError(error);
  }
}

function showError({ message }) {
  at("audits-state").classList.add("wrong");
  at("audits-state").textContent = message;
}

function empty(shown) {
  const commands = make("pre", {}, "sottovoce audit --out audits/first\nsottovoce serve --audits audits");
  return make(
    "div",
    { class: "empty" },
    make("p", {}, make("strong", {}, shown ? "No audits in the folder yet." : "No folder of audits is shown.")),
    make("p", {}, shown ? "Run one into it, and look again:" : "Run one, and start the service with its folder:"),
    commands,
  );
}

function auditCard({ name, title, date, verdict, synthetic, anonymisers, attackers }) {
  const path = `v1/audits/${encodeURIComponent(name)}/report`;
  const label = `Open the report: ${title}, ${name}`;
  const attributes = { class: "button main", href: path, target: "_blank", "aria-label": label };
  const open = make("a", attributes, "Open the report");
  open.addEventListener("click", (event) => {
    if (!hasToken()) return;
    event.preventDefault(); // a link cannot send the token
    openWithToken(path);
  });
  const when = new Date(date).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const summary = (noun, names) => `${counted(names.length, noun)}: ${names.join(", ")}.`;
  return make(
    "article",
    { class: "card audit" },
    make("h3", {}, title),
    make("p", { class: "soft" }, `${name} · ${when}`),
    make("p", {}, verdict, " ", synthetic ? make("span", { class: "mark doubt" }, "synthetic speech") : ""),
    make("p", { class: "soft" }, `${summary("anonymiser", anonymisers)} ${summary("attacker", attackers)}`),
    make("p", { class: "buttons" }, open),
  );
}

async function openWithToken(path) {
  const tab = window.open("", "_blank"); // at once: browsers allow a new window only during the click
  try {
    if (!tab) throw new Error("the browser opens no window for this page; allow it to");
    const report = await (await ask(path)).blob();
    tab.location = URL.createObjectURL(report);
  } catch (error) {
    tab?.close();
    showError(error);
  }
}
