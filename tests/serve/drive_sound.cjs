// The parts of the page that are heard: a voice changed, a recording masked.
"use strict";
const fs = require("fs");
const { go, send, settled, drop } = require("./drive_open.cjs");

// Width and number of colours of each picture.
const drawn = (page, place) =>
  page.$$eval(`${place} canvas`, (all) =>
    all.map((one) => {
      const copy = new OffscreenCanvas(one.width, one.height).getContext("2d");
      copy.drawImage(one, 0, 0);
      const { data, width } = copy.getImageData(0, 0, one.width, one.height);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) colours.add(`${data[i]} ${data[i + 1]} ${data[i + 2]} ${data[i + 3]}`);
      return { width, colours: colours.size };
    }),
  );

const playing = (page, place) => page.$eval(`${place} .play`, (one) => one.getAttribute("aria-label"));
const heardUntil = (page, place, time) =>
  page.waitForFunction(
    ([place, time]) => Number(document.querySelector(`${place} .picture`).getAttribute("aria-valuenow")) > time,
    [place, time],
  );

async function saved(page, link) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(link)]);
  const bytes = fs.readFileSync(await download.path());
  return { name: download.suggestedFilename(), head: bytes.toString("latin1", 0, 4), bytes: bytes.length };
}

async function voice(page, { clip }) {
  const found = {};
  await go(page, "voice");
  await page.waitForSelector("#method-mcadams");
  found.noClip = await send(page, "voice");
  found.focus = await page.evaluate(() => document.activeElement.id);
  await drop(page, "#voice-form .drop", clip, "audio/wav");
  await page.waitForSelector("#voice-before figure:not([hidden])");
  found.clip = await page.textContent("#voice-form .chosen");
  found.methods = {};
  for (const name of await page.$$eval("[name=method]", (all) => all.map((one) => one.value))) {
    await page.click(`label[for=method-${name}]`);
    const helps = await page.$$eval("#settings .field small", (all) => all.map((one) => one.textContent));
    found.methods[name] = { settings: helps.length, explained: helps.every((one) => one.length > 8) };
    if (name === "mcadams" || name === "voicemask") found.methods[name].said = await send(page, "voice");
  }
  await page.click("label[for=method-mcadams]");
  await page.click("#voice-more summary");
  await page.selectOption("#setting-coefficient", "a number");
  await page.fill("#setting-coefficient-number", "0.75");
  await page.fill("#voice-seed", "7");
  const [request] = await Promise.all([page.waitForRequest(/anonymise\/voice/), send(page, "voice")]);
  found.asked = new URL(request.url()).search;
  found.before = await drawn(page, "#voice-before");
  found.after = await drawn(page, "#voice-after");
  found.told = await page.textContent("#voice-told");
  found.saved = await saved(page, "#voice-save");
  await page.click("#voice-before .play");
  await heardUntil(page, "#voice-before", 0.2);
  found.playing = await playing(page, "#voice-before");
  await page.click("#voice-after .play"); // goes on where the other was
  await heardUntil(page, "#voice-after", 0.2);
  found.paused = await playing(page, "#voice-before");
  await page.click("#voice-after .play");
  await page.fill("#setting-coefficient-number", "7"); // out of range: the browser says so, nothing is sent
  found.refused = await page.$eval("#setting-coefficient-number", (one) => one.validity.rangeOverflow);
  return found;
}

// The microphone takes a moment to be allowed, as it does where a person is asked.
async function slowMicrophone(page) {
  await page.evaluate(() => {
    const own = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    window.microphones = [];
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const stream = await own(wanted);
      window.microphones.push(...stream.getTracks());
      return stream;
    };
  });
}

async function recorded(page) {
  await go(page, "voice");
  await slowMicrophone(page);
  await page.dblclick("#voice-record"); // impatient: still one recording
  await page.waitForFunction(() => document.querySelector("#voice-form .level").value > 0.02);
  await page.waitForTimeout(1300);
  await page.click("#voice-record");
  await page.waitForSelector("#voice-form .chosen:has-text('your recording')");
  const name = await page.textContent("#voice-form .chosen");
  const listening = await page.evaluate(() => window.microphones.map((one) => one.readyState));
  await page.fill("#setting-coefficient-number", "0.75");
  return { name, listening, said: await send(page, "voice"), before: await drawn(page, "#voice-before") };
}

async function cancelled(page) {
  await page.route("**/v1/anonymise/voice*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.abort().catch(() => {});
  });
  await page.click("#voice-form [type=submit]");
  await page.click("#voice-form .stop");
  await page.waitForFunction(() => document.getElementById("voice-form-state").textContent === "Cancelled.");
  await page.unroute("**/v1/anonymise/voice*");
  return page.$eval("#voice-form .stop", (one) => one.hidden);
}

// Another clip while the first one is worked on: its answer must not stand beside the new one.
async function overtaken(page, { clip }) {
  await page.route("**/v1/anonymise/voice*", async (route) => {
    const answer = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.fulfill({ response: answer }).catch(() => {});
  });
  await page.click("#voice-form [type=submit]");
  await page.setInputFiles("#voice-file", clip);
  const said = await settled(page, "voice");
  await page.unroute("**/v1/anonymise/voice*");
  return { said, shown: await page.isVisible("#voice-after figure") };
}

async function recording(page, { clip, transcript }) {
  const found = {};
  await go(page, "recording");
  await page.setInputFiles("#recording-file", clip);
  await page.waitForSelector("#recording-before figure:not([hidden])");
  found.noText = await send(page, "recording");
  await page.fill("#said", transcript);
  await page.selectOption("#how", "beep");
  await page.selectOption("#change", "none");
  found.said = await send(page, "recording");
  found.text = await page.textContent("#masked-text");
  found.stretches = await page.$$eval("#recording-before .stretches > div", (all) =>
    all.map((one) => [parseFloat(one.style.left), parseFloat(one.style.width), one.textContent]),
  );
  found.masked = await page.$$eval("#recording-after .stretches > div", (all) => all.length);
  found.drawn = await drawn(page, "#recording-after");
  found.saved = await saved(page, "#recording-save");
  found.told = await page.textContent("#recording-told");
  await page.fill("#said", "quite other words were never said in this place at all");
  found.withheld = await send(page, "recording");
  found.stale = await page.isVisible("#recording-told");
  await page.fill("#said", transcript); // for the pictures
  await send(page, "recording");
  return found;
}

module.exports = { voice, recorded, cancelled, overtaken, recording };
