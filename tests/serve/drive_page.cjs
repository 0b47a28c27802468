// Uses every part of the page in Chromium and prints as JSON what a person would meet.
// node drive_page.cjs CHROMIUM ADDRESS CLIP TRANSCRIPT SCORES [FOLDER FOR PICTURES]
"use strict";
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = [
  { name: "narrow-light", width: 360, colorScheme: "light", use: true },
  { name: "wide-dark", width: 1200, colorScheme: "dark" },
];

async function settled(page, state) {
  await page.waitForFunction(
    (id) => !["", "Working …", "Recording …"].includes(document.getElementById(id).textContent),
    state,
    { timeout: 60000 },
  );
  return page.textContent(`#${state}`);
}

async function use(page, given, found) {
  const { clip, transcript, scores } = given;
  await page.click("#voice-form [type=submit]");
  found.noClip = await settled(page, "voice-state");
  await page.setInputFiles("#voice-file", clip);
  await page.selectOption("#method", "mcadams");
  await page.click("summary");
  await page.fill("#setting-coefficient", "0.75");
  await page.click("#voice-form [type=submit]");
  await page.waitForFunction(() => document.getElementById("voice-state").textContent.startsWith("Done"));
  found.voice = await page.textContent("#voice-state");
  found.played = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const sound = document.getElementById("after");
        if (sound.readyState >= 1) return resolve(sound.duration);
        sound.onloadedmetadata = () => resolve(sound.duration);
        sound.onerror = () => resolve(-1);
      }),
  );
  found.drawn = await page.evaluate(() =>
    ["wave-before", "wave-after", "tones-before", "tones-after"].map((id) => {
      const one = document.getElementById(id);
      const data = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) colours.add(`${data[i]} ${data[i + 1]} ${data[i + 3]}`);
      return colours.size;
    }),
  );
  await page.selectOption("#strategy", "typed");
  await page.focus("#tau");
  await page.keyboard.press("Enter"); // no mouse needed
  found.text = await settled(page, "text-state");
  found.marks = await page.$$eval("#found mark", (all) => all.map((one) => one.textContent));
  found.replaced = await page.textContent("#replaced");
  if (transcript) {
    await page.fill("#said", transcript);
    await page.selectOption("#change", "no");
    await page.click("#recording-form [type=submit]");
    found.recording = await settled(page, "recording-state");
  }
  await page.setInputFiles("#scores", scores);
  await page.click("#measure-form [type=submit]");
  found.measure = await settled(page, "measure-state");
  found.rows = await page.$$eval("#measures tr", (all) => all.map((one) => one.textContent));
}

async function tabbed(page) {
  const seen = [];
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const id = await page.evaluate(() => document.activeElement.id);
    if (id) seen.push(id);
  }
  return [...new Set(seen)];
}

async function look(browser, view, given) {
  const context = await browser.newContext({
    viewport: { width: view.width, height: 800 },
    colorScheme: view.colorScheme,
    permissions: ["microphone"],
  });
  const page = await context.newPage();
  const found = { view: view.name, foreign: [], console: [] };
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(given.address))
      found.foreign.push(request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) found.console.push(message.text());
  });
  page.on("pageerror", (error) => found.console.push(String(error)));
  await page.goto(given.address);
  await page.waitForSelector("#setting-coefficient", { state: "attached" });
  if (view.use) await use(page, given, found);
  found.overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (given.pictures)
    await page.screenshot({ path: path.join(given.pictures, `${view.name}.png`), fullPage: true });
  await page.evaluate(AXE);
  const audit = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  found.violations = audit.violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join("; ")}`,
  );
  if (view.use) await keysAndVoice(page, found);
  await context.close();
  return found;
}

// The keyboard, and a clip from the microphone (Chromium's own beeps).
async function keysAndVoice(page, found) {
  found.tabbed = await tabbed(page);
  await page.click("#record");
  await page.waitForTimeout(1200);
  await page.click("#record");
  await page.waitForFunction(() => document.getElementById("voice-state").textContent === "Recorded.");
  await page.click("#voice-form [type=submit]");
  await page.waitForTimeout(50);
  found.recorded = await settled(page, "voice-state");
}

async function main() {
  const [executablePath, address, clip, transcript, scores, pictures] = process.argv.slice(2);
  const given = { address, clip, transcript, scores, pictures };
  const media = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"];
  const browser = await chromium.launch({ executablePath, args: ["--disable-gpu", ...media] });
  try {
    const views = [];
    for (const view of VIEWS) views.push(await look(browser, view, given));
    process.stdout.write(JSON.stringify(views));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error}\n`);
  process.exit(1);
});
