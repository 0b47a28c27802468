// Requests to the service, and forms that send them: progress, cancelling, errors.
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
    throw new Error(token ? "this is not the token of the service" : "this service needs a token");
  }
  const problem = await answer.json().catch(() => ({}));
  throw new Error(problem.error || `the service answered ${answer.status}`);
}

export const hasToken = () => at("token").value !== "";

// Thrown if an input is missing; `control` is where to enter it.
export class Missing extends Error {
  constructor(line, control) {
    super(line);
    this.control = control;
  }
}

// Runs `work(signal)` when a form is sent and shows the line that it returns under the button. If it
// fails, `clear` removes the earlier result, which must not be taken for the new one. Returns a
// function that cancels the work.
export function onSend(form, work, clear) {
  const button = form.querySelector("[type=submit]");
  const stop = make("button", { type: "button", class: "stop" }, "Cancel");
  const clock = make("span", { class: "clock", "aria-hidden": "true" });
  const state = make("p", { class: "state", role: "status", id: `${form.id}-state` });
  form.querySelector(".send").append(stop, clock, state);
  let running = null;

  const setBusy = (busy) => {
    stop.hidden = clock.hidden = !busy;
    button.setAttribute("aria-disabled", String(busy));
    form.classList.toggle("busy", busy);
  };
  const showStatus = (line, wrong = false) => {
    state.classList.toggle("wrong", wrong);
    state.textContent = line;
  };
  setBusy(false);
  const cancel = () => running?.abort();
  stop.addEventListener("click", cancel);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return;
    running = new AbortController();
    form.querySelectorAll("[aria-invalid]").forEach((control) => control.removeAttribute("aria-invalid"));
    const start = performance.now();
    const tick = setInterval(() => (clock.textContent = since(start)), 200);
    clock.textContent = "";
    setBusy(true);
    showStatus("Working …");
    try {
      showStatus(`${await work(running.signal)} in ${since(start)}.`);
      bringIntoView(form.nextElementSibling);
    } catch (error) {
      if (error.name === "AbortError") showStatus("Cancelled.");
      else {
        showStatus(capitalise(error.message), true);
        clear();
      }
      if (error instanceof Missing) {
        error.control.setAttribute("aria-invalid", "true");
        error.control.focus();
      } else if (document.activeElement === stop) button.focus();
    } finally {
      clearInterval(tick);
      running = null;
      setBusy(false);
    }
  });
  return cancel;
}

// On a narrow screen the outcome is below the form.
function bringIntoView(outcome) {
  const { top } = outcome.getBoundingClientRect();
  if (top > 0.8 * window.innerHeight) outcome.scrollIntoView({ block: "start" });
}

const since = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;
const capitalise = (line) => line.charAt(0).toUpperCase() + line.slice(1);
