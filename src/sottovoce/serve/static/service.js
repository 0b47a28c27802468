// Calls of the service, and forms that make them: what goes on, how to cancel, what went wrong.
import { at, make } from "./dom.js";

export async function ask(path, body, signal) {
  const token = at("token").value;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let answer;
  try {
    answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the service does not answer; is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) {
    at("access").hidden = false;
    at("token").focus();
    throw new Error(token ? "this is not the token of the service" : "this service wants a token");
  }
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.error || `the service answered ${answer.status}`);
}

export const hasToken = () => at("token").value !== "";

// Something that is not there yet, and the control that would bring it.
export class Missing extends Error {
  constructor(line, control) {
    super(line);
    this.control = control;
  }
}

// Runs `work(signal)` when a form is sent; what it gives back is said under the button. When it
// fails, `clear` takes away what an earlier one left: it must not be taken for the new one's. What
// is given back cancels the work, if there is any.
export function onSend(form, work, clear) {
  const button = form.querySelector("[type=submit]");
  const stop = make("button", { type: "button", class: "stop" }, "Cancel");
  const clock = make("span", { class: "clock", "aria-hidden": "true" });
  const state = make("p", { class: "state", role: "status", id: `${form.id}-state` });
  form.querySelector(".send").append(stop, clock, state);
  let running = null;

  const busy = (yes) => {
    stop.hidden = clock.hidden = !yes;
    button.setAttribute("aria-disabled", String(yes));
    form.classList.toggle("busy", yes);
  };
  const say = (line, wrong = false) => {
    state.classList.toggle("wrong", wrong);
    state.textContent = line;
  };
  busy(false);
  const cancel = () => running?.abort();
  stop.addEventListener("click", cancel);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return;
    running = new AbortController();
    form.querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid"));
    const begun = performance.now();
    const tick = setInterval(() => (clock.textContent = since(begun)), 200);
    clock.textContent = "";
    busy(true);
    say("Working …");
    try {
      say(`${await work(running.signal)} in ${since(begun)}.`);
      bringIntoView(form.nextElementSibling);
    } catch (error) {
      if (error.name === "AbortError") say("Cancelled.");
      else {
        say(capital(error.message), true);
        clear();
      }
      if (error instanceof Missing) {
        error.control.setAttribute("aria-invalid", "true");
        error.control.focus();
      } else if (document.activeElement === stop) button.focus();
    } finally {
      clearInterval(tick);
      running = null;
      busy(false);
    }
  });
  return cancel;
}

// On a narrow screen the outcome lies below the form.
function bringIntoView(outcome) {
  const { top } = outcome.getBoundingClientRect();
  if (top > 0.8 * window.innerHeight) outcome.scrollIntoView({ block: "start" });
}

const since = (begun) => `${((performance.now() - begun) / 1000).toFixed(1)} s`;
const capital = (line) => line.charAt(0).toUpperCase() + line.slice(1);
