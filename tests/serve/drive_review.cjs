// The review of masks in Chromium, by mouse and by keyboard; prints as JSON what a person would meet.
// node drive_review.cjs CHROMIUM INPUTS.json [FOLDER FOR PICTURES]
"use strict";
const fs = require("fs");
const path = require("path");
const { launch, open, go, send, settled, violations } = require("./drive_open.cjs");
const { walk } = require("./drive_keys.cjs");

const TEXT = "My name is Ann Lee, I live in Berlin 🙂 and the gizmo is a gizmo.";

const word = (page, view, said) => page.locator(`#${view}-words button`, { hasText: new RegExp(`^${said}`) });
const typed = (page) => page.textContent("#strategy-typed .words");
const stateOf = (page, view) => page.textContent(`#${view}-review-state`);

async function saved(page, press) {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  const file = await download.path();
  return { name: download.suggestedFilename(), file, content: fs.readFileSync(file) };
}

// Submits by the button of the review and waits for the new answer.
async function apply(page, view, press) {
  await page.evaluate((id) => (document.getElementById(id).textContent = ""), `${view}-form-state`);
  await press();
  return settled(page, view);
}

async function textByMouse(page) {
  const result = {};
  await go(page, "text");
  await page.waitForSelector("#language option", { state: "attached" });
  await page.fill("#words", TEXT);
  await send(page, "text");
  result.proposed = await typed(page);
  await word(page, "text", "Berlin").click(); // a mask is released
  await word(page, "text", "gizmo").first().click(); // a missed word is marked, wherever it occurs
  result.state = await stateOf(page, "text");
  result.pressed = await page.$$eval("#text-words [aria-pressed=true]", (all) => all.map((element) => element.textContent));
  await apply(page, "text", () => page.click("#text-apply"));
  result.decided = await typed(page);
  const file = await saved(page, () => page.click("#text-save-decisions"));
  result.saved = { name: file.name, content: file.content.toString() };
  await page.click("#findings input[type=checkbox] >> nth=0"); // released in the table too
  result.table = await stateOf(page, "text");
  await apply(page, "text", () => page.setInputFiles("#text-load-decisions", file.file));
  result.replayed = await typed(page);
  await page.fill("#words", "This is another text about nothing at all.");
  await apply(page, "text", () => page.setInputFiles("#text-load-decisions", file.file));
  result.refused = await page.textContent("#text-form-state");
  result.empty = await send(page, "text");
  result.warning = await page.textContent("#text-result .nothing-masked");
  await page.click("#strategy-typed button");
  result.asked = await page.textContent("#strategy-typed button");
  await page.click("#strategy-typed button");
  await page.waitForFunction(() => document.querySelector("#strategy-typed button").textContent === "Copied");
  result.copied = await page.evaluate(() => navigator.clipboard.readText());
  return result;
}

const tabTo = async (page, id) => {
  for (let i = 0; i < 120; i++) {
    if ((await page.evaluate(() => document.activeElement.id)) === id) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${id} is not reached with Tab`);
};

// From the top of a new page to a reviewed text, with keys alone.
async function textByKeyboard(page) {
  const result = {};
  await page.waitForSelector("#language option", { state: "attached" });
  await page.focus('.views a[href="#text"]');
  await page.keyboard.press("Enter");
  await tabTo(page, "words");
  await page.keyboard.type("My name is Ann Lee from Berlin, the big blue gizmo said so.");
  await tabTo(page, "language");
  await page.keyboard.press("Tab");
  while (!(await page.evaluate(() => document.activeElement.type === "submit"))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await settled(page, "text");
  while (!(await page.evaluate(() => document.activeElement.closest("#text-words")))) await page.keyboard.press("Tab");
  result.first = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("End"); // so
  await page.keyboard.press("ArrowLeft"); // said
  await page.keyboard.press("ArrowLeft"); // gizmo
  await page.keyboard.press("Shift+ArrowLeft"); // blue gizmo
  result.taken = await page.$$eval("#text-words .taken", (all) => all.map((element) => element.textContent));
  result.ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  await page.keyboard.press("Enter");
  result.marked = await page.evaluate(() => document.activeElement.textContent);
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft"); // big, the, Berlin
  await page.keyboard.press("Space");
  result.released = await page.evaluate(() => document.activeElement.textContent);
  result.state = await stateOf(page, "text");
  await tabTo(page, "text-apply");
  await apply(page, "text", () => page.keyboard.press("Enter"));
  result.decided = await typed(page);
  return result;
}

async function recordingByMouse(page, { clip, transcript }) {
  const result = {};
  await go(page, "recording");
  await page.setInputFiles("#recording-file", clip);
  await page.waitForSelector("#recording-before figure:not([hidden])");
  await page.fill("#transcript", transcript);
  await page.selectOption("#change", "none");
  result.status = await send(page, "recording");
  const masks = () => page.$$eval("#recording-after .stretches > div", (all) => all.length);
  result.masks = await masks();
  const mark = page.locator("#recording-words mark").first();
  result.released = await mark.evaluate((element) => element.firstChild.textContent);
  await mark.click();
  await page.locator("#recording-before .picture").scrollIntoViewIfNeeded();
  const box = await page.locator("#recording-before .picture").boundingBox();
  await page.mouse.move(box.x + 0.02 * box.width, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.05 * box.width, box.y + 25, { steps: 4 });
  await page.mouse.move(box.x + 0.1 * box.width, box.y + 30, { steps: 4 });
  await page.mouse.up();
  result.dragged = await page.$$eval("#recording-stretches input", (all) => all.map((element) => Number(element.value)));
  result.shown = await page.$$eval("#recording-before .marks > div", (all) => all.length);
  result.state = await stateOf(page, "recording");
  await apply(page, "recording", () => page.click("#recording-apply"));
  result.text = await page.textContent("#masked-text");
  result.before = await page.$$eval("#recording-before .stretches > div", (all) =>
    all.map((element) => parseFloat(element.style.left)),
  );
  const file = await saved(page, () => page.click("#recording-save-decisions"));
  const sound = await saved(page, () => page.click("#recording-save"));
  await page.click("#recording-stretches button");
  result.removed = await page.$$eval("#recording-stretches li", (all) => all.length);
  await apply(page, "recording", () => page.setInputFiles("#recording-load-decisions", file.file));
  const again = await saved(page, () => page.click("#recording-save"));
  result.sameBytes = sound.content.equals(again.content) && sound.content.length > 1000;
  result.file = file.content.toString();
  return result;
}

async function recordingByKeyboard(page) {
  const result = {};
  await page.waitForSelector("#change option", { state: "attached" });
  await page.focus('.views a[href="#recording"]');
  await page.keyboard.press("Enter");
  await tabTo(page, "recording-example");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#recording-before figure:not([hidden])");
  while (!(await page.evaluate(() => document.activeElement.type === "submit"))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  result.status = await settled(page, "recording");
  while (!(await page.evaluate(() => document.activeElement.matches("#recording-before .picture")))) await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.down("Shift");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.up("Shift");
  result.marked = await page.$$eval("#recording-stretches input", (all) => all.map((element) => Number(element.value)));
  await page.keyboard.press("Home");
  await tabTo(page, "recording-mark-from");
  await page.keyboard.press("Enter");
  await page.focus("#recording-before .picture");
  await page.keyboard.press("ArrowRight");
  await tabTo(page, "recording-mark-to");
  await page.keyboard.press("Enter");
  result.both = await page.$$eval("#recording-stretches input", (all) => all.map((element) => Number(element.value)));
  await page.focus("#recording-apply");
  await apply(page, "recording", () => page.keyboard.press("Enter"));
  result.spans = await page.$$eval("#recording-before .stretches > div", (all) => all.map((element) => parseFloat(element.style.left)));
  return result;
}

// A recording in which nothing is masked is only saved when asked twice.
async function unmasked(page) {
  for (;;) {
    const mark = page.locator("#recording-words mark").first();
    if (!(await mark.count())) break;
    await mark.click();
  }
  await apply(page, "recording", () => page.click("#recording-apply"));
  const warning = await page.textContent("#recording-notes .nothing-masked");
  await page.click("#recording-save");
  const asked = await page.textContent("#recording-save");
  const { name } = await saved(page, () => page.click("#recording-save"));
  return { warning, asked, name };
}

async function looks(page, view, pictures, name) {
  const results = {};
  for (const [width, colorScheme] of [[400, "light"], [1400, "light"], [400, "dark"]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(200);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    results[`${name}-${width}-${colorScheme}`] = { overflow, violations: await violations(page) };
    if (pictures) {
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(200);
      await page.screenshot({ path: path.join(pictures, `${name}-${width}-${colorScheme}.png`) });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
  return results;
}

async function main() {
  const [executable, file, pictures] = process.argv.slice(2);
  const inputs = JSON.parse(fs.readFileSync(file, "utf8"));
  const browser = await launch(executable, inputs.clip);
  const results = { looks: {}, problems: [] };
  const visit = async (name, width, action) => {
    const { context, page, problems } = await open(browser, inputs.address, { width });
    results[name] = await action(page);
    results.problems.push(...problems.foreign, ...problems.console);
    await context.close();
  };
  try {
    await visit("textByMouse", 1400, (page) => textByMouse(page));
    await visit("textByKeyboard", 400, async (page) => {
      const result = await textByKeyboard(page);
      Object.assign(results.looks, await looks(page, "text", pictures, "text"));
      return { ...result, keys: await walk(page, "text") };
    });
    if (inputs.transcript) {
      await visit("recordingByMouse", 1400, async (page) => {
        const result = await recordingByMouse(page, inputs);
        Object.assign(results.looks, await looks(page, "recording", pictures, "recording"));
        const keys = await walk(page, "recording");
        return { ...result, keys };
      });
      await visit("recordingByKeyboard", 400, (page) => recordingByKeyboard(page));
      await visit("unmasked", 1400, async (page) => {
        await go(page, "recording");
        await page.click("#recording-example");
        await page.waitForSelector("#recording-before figure:not([hidden])");
        await page.selectOption("#change", "none");
        await send(page, "recording");
        return unmasked(page);
      });
    }
    process.stdout.write(JSON.stringify(results));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
