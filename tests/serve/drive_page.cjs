// Uses every part of the page in Chromium and prints as JSON what a person would meet.
// node drive_page.cjs CHROMIUM INPUTS.json [FOLDER FOR PICTURES]
//
// Each part has a page of its own, and all pages are driven at the same time.
"use strict";
const fs = require("fs");
const path = require("path");
const { launch, open, go, send, violations } = require("./drive_open.cjs");
const { voice, recorded, cancelled, overtaken, recording } = require("./drive_sound.cjs");
const { text, measures, audits, token } = require("./drive_words.cjs");
const { walk, keyboardOnly } = require("./drive_keys.cjs");

const LOOKS = [
  { width: 400, colorScheme: "light" },
  { width: 400, colorScheme: "dark" },
  { width: 1400, colorScheme: "light" },
  { width: 1400, colorScheme: "dark" },
];

// What is done in each part of the page.
const USES = {
  voice: async (page, inputs) => {
    const result = await voice(page, inputs);
    result.recorded = await recorded(page);
    result.cancelHidden = await cancelled(page);
    result.overtaken = await overtaken(page, inputs);
    await send(page, "voice"); // for the looks afterwards
    return result;
  },
  text: (page) => text(page),
  recording: (page, inputs) => (inputs.transcript ? recording(page, inputs) : null),
  measures,
  audits: (page) => audits(page),
};

// One part as it is now, in several looks: whether it fits, and what axe finds.
async function check(page, when, view, looks, pictures) {
  const results = {};
  for (const { width, colorScheme } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await go(page, view);
    const name = `${when}-${view}-${width}-${colorScheme}`;
    results[name] = {
      overflow: await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
      violations: await violations(page),
    };
    if (pictures) await picture(page, width, path.join(pictures, `${name}.png`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
  return results;
}

async function picture(page, width, file) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height });
  await page.waitForTimeout(200);
  await page.screenshot({ path: file });
}

// One part before, in and after use, and with the Tab key.
async function useView(browser, view, inputs, pictures) {
  return withPage(browser, inputs.address, 1400, async (page) => {
    await page.waitForSelector("#method-mcadams", { state: "attached" });
    const before = await check(page, "empty", view, LOOKS.slice(1, 3), pictures);
    const result = await USES[view](page, inputs);
    const after = await check(page, "used", view, LOOKS, pictures);
    return { before, result, after, keys: await walk(page, view) };
  });
}

async function withPage(browser, address, width, action) {
  const { context, page, problems } = await open(browser, address, { width });
  const result = { ...(await action(page)), problems };
  await context.close();
  return result;
}

async function main() {
  const [executable, file, pictures] = process.argv.slice(2);
  const inputs = JSON.parse(fs.readFileSync(file, "utf8"));
  const browser = await launch(executable, inputs.clip);
  try {
    // one after the other: on a busy machine, pages that wait for each other time out
    const results = {};
    for (const view of Object.keys(USES)) results[view] = await useView(browser, view, inputs, pictures);
    results.keyboard = await withPage(browser, inputs.address, 400, keyboardOnly);
    results.guarded = await withPage(browser, inputs.guarded, 400, (page) => token(page, inputs.token));
    results.bare = await withPage(browser, inputs.bare, 400, audits);
    process.stdout.write(JSON.stringify(results));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
