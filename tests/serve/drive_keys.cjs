// The page without a mouse: every control is reached, shows its focus and is explained; one full use.
"use strict";
const { go, settled } = require("./drive_open.cjs");

const CONTROLS = ["INPUT", "SELECT", "TEXTAREA"];

// The controls of a view by Tab alone: whether each has a name, an explanation and a focus ring.
async function walk(page, view) {
  await go(page, view);
  await page.$$eval(`#${view} details`, (all) => all.forEach((details) => (details.open = true)));
  const expected = await page.$$eval(
    `#${view} :is(input, select, textarea, button, summary, [tabindex="0"]):not([hidden], [tabindex="-1"])`,
    (all) =>
      all
        .filter((control) => control.checkVisibility() && (control.type !== "radio" || control.checked))
        .map((control) => control.id || control.className || control.tagName),
  );
  await page.focus(`.views a[href="#${view}"]`);
  const reached = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    const control = await page.evaluate((view) => {
      const active = document.activeElement;
      if (!active.closest(`#${view}`)) return null;
      const help = active.getAttribute("aria-describedby");
      const outlined = [active, active.nextElementSibling, active.closest(".choice")].filter(Boolean);
      return {
        id: active.id || active.className || active.tagName,
        kind: active.tagName,
        named: Boolean(active.labels?.length || active.getAttribute("aria-label") || active.textContent.trim()),
        explained: Boolean(help && document.getElementById(help)?.textContent.trim()),
        ring: outlined.some((element) => getComputedStyle(element).outlineStyle === "solid"),
      };
    }, view);
    if (control) reached.push(control);
    else if (reached.length) break;
  }
  const ids = reached.map((control) => control.id);
  return {
    missed: expected.filter((id) => !ids.includes(id)),
    unnamed: reached.filter((control) => !control.named).map((control) => control.id),
    unexplained: reached
      .filter((control) => CONTROLS.includes(control.kind) && !control.explained)
      .map((control) => control.id),
    unseen: reached.filter((control) => !control.ring).map((control) => control.id),
    count: reached.length,
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
async function keyboardOnly(page) {
  await page.waitForSelector("#method-mcadams");
  await tabTo(page, "voice-example");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#voice-before figure:not([hidden])");
  await tabTo(page, "method-mcadams");
  await page.keyboard.press("ArrowDown");
  const method = await page.$eval("[name=method]:checked", (radio) => radio.value);
  await page.keyboard.press("Enter"); // sends the form
  const status = await settled(page, "voice");
  await page.focus("#voice-after .picture");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
  const read = (name) => page.getAttribute("#voice-after .picture", `aria-value${name}`);
  const moved = await read("text");
  await page.keyboard.press("End");
  return { method, status, moved, end: [await read("now"), await read("max")] };
}

module.exports = { walk, keyboardOnly };
