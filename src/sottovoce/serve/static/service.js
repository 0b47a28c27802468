// Calls of the service: one function, errors as the line the service sent.

const access = document.querySelector("#access");
const token = document.querySelector("#token");

export async function ask(path, body) {
  const headers = token.value ? { Authorization: `Bearer ${token.value}` } : {};
  let answer;
  try {
    answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body });
  } catch {
    throw new Error("the service does not answer; is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) {
    access.hidden = false;
    token.focus();
  }
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.error || `the service answered ${answer.status}`);
}

export function whenTokenChanges(action) {
  token.addEventListener("change", action);
}

// Runs the work of a form when it is sent: says what goes on, and what went wrong.
export function onSend(form, state, work) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("[type=submit]");
    button.disabled = true;
    state.classList.remove("wrong");
    state.textContent = "Working …";
    try {
      state.textContent = await work();
    } catch (error) {
      state.classList.add("wrong");
      state.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
}
