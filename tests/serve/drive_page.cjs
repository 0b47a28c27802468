// Uses every part of the page in Chromium and prints as JSON what a person would meet.
// node drive_page.cjs CHROMIUM GIVEN.json [FOLDER FOR PICTURES]
"use strict";
const fs = require("fs");
const path = require("path");
const { launch, open, go, send, violations } = require("./drive_open.cjs");
const { voice, recorded, cancelled, overtaken, recording } = require("./drive_sound.cjs");
const { text, measures, audits, token } = require("./drive_words.cjs");
const { walk, whole } = require("./drive_keys.cjs");

const VIEWS = ["voice", "text", "recording", "measures", "audits"];
const LOOKS = [
  { width: 400, colorScheme: "light" },
  { width: 400, colorScheme: "dark" },
  { width: 1400, colorScheme: "light" },
  { width: 1400, colorScheme: "dark" },
];

// Every part as it is now, in every look: whether it fits, and what axe finds.
async function looked(page, when, looks, pictures) {
  const found = {};
  for (const { width, colorScheme } of looks) {
    await page.emulateMedia({ colorScheme });
    for (const view of VIEWS) {
      await page.setViewportSize({ width, height: 900 });
      await go(page, view);
      const name = `${when}-${view}-${width}-${colorScheme}`;
      found[name] = {
        overflow: await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
        violations: await violations(page),
      };
      if (pictures) await picture(page, width, path.join(pictures, `${name}.png`));
    }
  }
  return found;
}

async function picture(page, width, file) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height });
  await page.waitForTimeout(200);
  await page.screenshot({ path: file });
}

async function use(browser, given, pictures) {
  const { context, page, met } = await open(browser, given.address, { width: 1400 });
  const found = { met, keys: {} };
  await page.waitForSelector("#method-mcadams");
  found.before = await looked(page, "empty", LOOKS.slice(1, 3), pictures);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
  found.voice = await voice(page, given);
  found.recorded = await recorded(page);
  found.cancelHidden = await cancelled(page);
  found.overtaken = await overtaken(page, given);
  await send(page, "voice"); // for the pictures
  found.text = await text(page);
  if (given.transcript) found.recording = await recording(page, given);
  found.measures = await measures(page, given);
  found.audits = await audits(page);
  found.after = await looked(page, "used", LOOKS, pictures);
  for (const view of VIEWS) found.keys[view] = await walk(page, view);
  await context.close();
  return found;
}

async function briefly(browser, address, action) {
  const { context, page, met } = await open(browser, address, { width: 400 });
  const found = { ...(await action(page)), met };
  await context.close();
  return found;
}

async function main() {
  const [executable, file, pictures] = process.argv.slice(2);
  const given = JSON.parse(fs.readFileSync(file, "utf8"));
  const browser = await launch(executable, given.clip);
  try {
    const found = await use(browser, given, pictures);
    found.keyboard = await briefly(browser, given.address, whole);
    found.guarded = await briefly(browser, given.guarded, (page) => token(page, given.token));
    found.bare = await briefly(browser, given.bare, audits);
    process.stdout.write(JSON.stringify(found));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
