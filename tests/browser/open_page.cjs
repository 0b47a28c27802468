// Opens a page in Chromium, offline, and prints as JSON what a reader would meet.
// All views are opened at the same time.
// node open_page.cjs CHROMIUM PAGE [FOLDER FOR PICTURES]
"use strict";
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = [
  { name: "narrow-light", width: 400, colorScheme: "light", examine: true },
  { name: "wide-light", width: 1400, colorScheme: "light" },
  { name: "narrow-dark", width: 400, colorScheme: "dark" },
  { name: "wide-dark", width: 1400, colorScheme: "dark", examine: true },
];

async function look(browser, address, view, pictures) {
  const context = await browser.newContext({
    viewport: { width: view.width, height: 900 },
    colorScheme: view.colorScheme,
    offline: true,
    bypassCSP: false,
  });
  const page = await context.newPage();
  const result = { view: view.name, requests: [], console: [], violations: [], overflow: 0 };
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:")) result.requests.push(url);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) result.console.push(message.text());
  });
  page.on("pageerror", (error) => result.console.push(String(error)));
  await page.goto(address);
  if (pictures) await page.screenshot({ path: path.join(pictures, `${view.name}-top.png`) });
  // everything unfolded, so that hidden parts are examined as well
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  result.overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  result.scripts = await page.evaluate(() => document.scripts.length);
  if (view.examine) result.violations = await examine(page);
  await context.close();
  return result;
}

// Each theme once and each width once: the rules do not depend on both together.
async function examine(page) {
  await page.evaluate(AXE);
  const audit = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return audit.violations.map(
    (rule) => `${rule.id}: ${rule.nodes.map((node) => node.target.join(" ")).slice(0, 3).join("; ")}`,
  );
}

async function print(browser, address, pictures) {
  const page = await browser.newPage();
  await page.goto(address);
  await page.emulateMedia({ media: "print" });
  const hidden = await page.evaluate(() => {
    const closed = [...document.querySelectorAll("details.row:not([open]) figure")];
    return closed.filter((figure) => figure.getBoundingClientRect().height === 0).length;
  });
  const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
  if (pictures) fs.writeFileSync(path.join(pictures, "print.pdf"), pdf);
  await page.close();
  return { bytes: pdf.length, hidden };
}

async function play(browser, address) {
  const page = await browser.newPage();
  await page.goto(address);
  const seconds = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const audio = document.querySelector("audio");
        if (!audio) return resolve(null);
        audio.onloadedmetadata = () => resolve(audio.duration);
        audio.onerror = () => resolve(-1);
        audio.load();
        audio.preload = "metadata";
      }),
  );
  await page.close();
  return seconds;
}

async function main() {
  const [executablePath, file, pictures] = process.argv.slice(2);
  const address = `file://${path.resolve(file)}`;
  const browser = await chromium.launch({ executablePath, args: ["--disable-gpu"] });
  try {
    const [printed, played, ...views] = await Promise.all([
      print(browser, address, pictures),
      play(browser, address),
      ...VIEWS.map((view) => look(browser, address, view, pictures)),
    ]);
    process.stdout.write(JSON.stringify({ views, printed, played }));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error}\n`);
  process.exit(1);
});
