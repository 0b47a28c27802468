// What all drivers of the page share: a browser with a microphone, watched pages, waiting.
"use strict";
const fs = require("fs");
const { chromium } = require("playwright-core");

const PATIENCE = Number(process.env.PATIENCE ?? 120000); // milliseconds until a wait fails; machines may be busy
const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// `recording` is the file that the microphone plays, again and again.
function launch(executablePath, recording) {
  const media = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"];
  const microphone = `--use-file-for-fake-audio-capture=${recording}`;
  const autoplay = "--autoplay-policy=no-user-gesture-required";
  return chromium.launch({ executablePath, args: ["--disable-gpu", autoplay, ...media, microphone] });
}

// A page, with its requests to other hosts and its warnings and errors.
async function open(browser, address, { width = 1400, colorScheme = "light" } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme,
    permissions: ["microphone", "clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const problems = { foreign: [], console: [] };
  context.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(address)) problems.foreign.push(request.url());
  });
  context.on("console", (message) => {
    // Chromium writes a line for every answer with an error status; those are expected
    const refusal = message.text().includes("the server responded with a status");
    if (["error", "warning"].includes(message.type()) && !refusal) problems.console.push(message.text());
  });
  page.on("pageerror", (error) => problems.console.push(String(error)));
  const answer = await page.goto(address);
  if (!answer.ok()) throw new Error(`${address}: ${answer.status()} ${(await answer.text()).slice(0, 200)}`);
  return { context, page, problems };
}

async function go(page, view) {
  await page.click(`.views a[href="#${view}"]`);
  await page.waitForFunction(() => document.getElementById("audits-state").textContent !== "Looking …");
}

// Sends a form and waits for the line that says how it went.
async function send(page, form) {
  await page.click(`#${form}-form [type=submit]`);
  return settled(page, form);
}

async function settled(page, form) {
  await page.waitForFunction(
    (id) => {
      const busy = document.getElementById(id).classList.contains("busy");
      return !busy && document.getElementById(`${id}-state`).textContent;
    },
    `${form}-form`,
    { timeout: PATIENCE },
  );
  return page.textContent(`#${form}-form-state`);
}

async function drop(page, place, file, type) {
  const data = fs.readFileSync(file).toString("base64");
  const name = require("path").basename(file);
  const transfer = await page.evaluateHandle(
    ([data, name, type]) => {
      const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name, { type }));
      return transfer;
    },
    [data, name, type],
  );
  for (const kind of ["dragenter", "dragover", "drop"]) await page.dispatchEvent(place, kind, { dataTransfer: transfer });
}

async function violations(page) {
  await page.evaluate(`window.axe ?? (() => { ${AXE} })()`);
  const audit = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return audit.violations.map(
    (rule) => `${rule.id}: ${rule.nodes.map((node) => node.target.join(" ")).slice(0, 3).join("; ")}`,
  );
}

module.exports = { launch, open, go, send, settled, drop, violations };
