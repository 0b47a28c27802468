// The page without a mouse: every control is reached, is seen to be, and is explained; one whole use.
"use strict";
const { go, settled } = require("./drive_open.cjs");

const CONTROLS = ["INPUT", "SELECT", "TEXTAREA"];

// The controls of a view by Tab alone: each with its name, its sentence, and whether it is seen.
async function walk(page, view) {
  await go(page, view);
  await page.$$eval(`#${view} details`, (all) => all.forEach((one) => (one.open = true)));
  const wanted = await page.$$eval(
    `#${view} :is(input, select, textarea, button, summary, [tabindex="0"]):not([hidden])`,
    (all) =>
      all
        .filter((one) => one.checkVisibility() && (one.type !== "radio" || one.checked))
        .map((one) => one.id || one.className || one.tagName),
  );
  await page.focus(`.views a[href="#${view}"]`);
  const met = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    const one = await page.evaluate((view) => {
      const it = document.activeElement;
      if (!it.closest(`#${view}`)) return null;
      const help = it.getAttribute("aria-describedby");
      const shown = [it, it.nextElementSibling, it.closest(".choice")].filter(Boolean);
      return {
        id: it.id || it.className || it.tagName,
        kind: it.tagName,
        named: Boolean(it.labels?.length || it.getAttribute("aria-label") || it.textContent.trim()),
        explained: Boolean(help && document.getElementById(help)?.textContent.trim()),
        ring: shown.some((two) => getComputedStyle(two).outlineStyle === "solid"),
      };
    }, view);
    if (one) met.push(one);
    else if (met.length) break;
  }
  const ids = met.map((one) => one.id);
  return {
    missed: wanted.filter((id) => !ids.includes(id)),
    unnamed: met.filter((one) => !one.named).map((one) => one.id),
    unexplained: met.filter((one) => CONTROLS.includes(one.kind) && !one.explained).map((one) => one.id),
    unseen: met.filter((one) => !one.ring).map((one) => one.id),
    count: met.length,
  };
}

const tabTo = async (page, id) => {
  for (let i = 0; i < 80; i++) {
    if ((await page.evaluate(() => document.activeElement.id)) === id) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${id} is not reached with Tab`);
};

// From the top of a new page to an anonymised voice, with keys alone.
async function whole(page) {
  await page.waitForSelector("#method-mcadams");
  await tabTo(page, "voice-example");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#voice-before figure:not([hidden])");
  await tabTo(page, "method-mcadams");
  await page.keyboard.press("ArrowDown");
  const method = await page.$eval("[name=method]:checked", (one) => one.value);
  await page.keyboard.press("Enter"); // sends the form
  const said = await settled(page, "voice");
  await page.focus("#voice-after .picture");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
  const read = (name) => page.getAttribute("#voice-after .picture", `aria-value${name}`);
  const moved = await read("text");
  await page.keyboard.press("End");
  return { method, said, moved, end: [await read("now"), await read("max")] };
}

module.exports = { walk, whole };
