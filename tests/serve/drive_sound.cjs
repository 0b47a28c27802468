// The parts of the page with sound: a voice changed, a recording masked.
"use strict";
const fs = require("fs");
const { go, send, settled, drop } = require("./drive_open.cjs");

// Width and number of colours of each picture.
const drawn = (page, place) =>
  page.$$eval(`${place} canvas`, (all) =>
    all.map((element) => {
      const copy = new OffscreenCanvas(element.width, element.height).getContext("2d");
      copy.drawImage(element, 0, 0);
      const { data, width } = copy.getImageData(0, 0, element.width, element.height);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) colours.add(`${data[i]} ${data[i + 1]} ${data[i + 2]} ${data[i + 3]}`);
      return { width, colours: colours.size };
    }),
  );

const playing = (page, place) => page.$eval(`${place} .play`, (element) => element.getAttribute("aria-label"));
const playedUntil = (page, place, time) =>
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
  const result = {};
  await go(page, "voice");
  await page.waitForSelector("#method-mcadams");
  result.noClip = await send(page, "voice");
  result.focus = await page.evaluate(() => document.activeElement.id);
  await drop(page, "#voice-form .drop", clip, "audio/wav");
  await page.waitForSelector("#voice-before figure:not([hidden])");
  result.clip = await page.textContent("#voice-form .chosen");
  result.methods = {};
  for (const name of await page.$$eval("[name=method]", (all) => all.map((element) => element.value))) {
    await page.click(`label[for=method-${name}]`);
    const helps = await page.$$eval("#settings .field small", (all) => all.map((element) => element.textContent));
    result.methods[name] = { settings: helps.length, explained: helps.every((element) => element.length > 8) };
    if (name === "mcadams" || name === "voicemask") result.methods[name].status = await send(page, "voice");
  }
  await page.click("label[for=method-mcadams]");
  await page.click("#voice-more summary");
  await page.selectOption("#setting-coefficient", "a number");
  await page.fill("#setting-coefficient-number", "0.75");
  await page.fill("#voice-seed", "7");
  const [request] = await Promise.all([page.waitForRequest(/anonymise\/voice/), send(page, "voice")]);
  result.asked = new URL(request.url()).search;
  result.before = await drawn(page, "#voice-before");
  result.after = await drawn(page, "#voice-after");
  result.notes = await page.textContent("#voice-notes");
  result.saved = await saved(page, "#voice-save");
  await page.click("#voice-before .play");
  await playedUntil(page, "#voice-before", 0.2);
  result.playing = await playing(page, "#voice-before");
  await page.click("#voice-after .play"); // goes on where the other was
  await playedUntil(page, "#voice-after", 0.2);
  result.paused = await playing(page, "#voice-before");
  await page.click("#voice-after .play");
  await page.fill("#setting-coefficient-number", "7"); // out of range: the browser says so, nothing is sent
  result.refused = await page.$eval("#setting-coefficient-number", (element) => element.validity.rangeOverflow);
  return result;
}

// Access to the microphone takes a moment, as it does where a person has to allow it.
async function slowMicrophone(page) {
  await page.evaluate(() => {
    const getUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    window.microphones = [];
    navigator.mediaDevices.getUserMedia = async (constraints) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const stream = await getUserMedia(constraints);
      window.microphones.push(...stream.getTracks());
      return stream;
    };
  });
}

async function recorded(page) {
  await go(page, "voice");
  await slowMicrophone(page);
  await page.dblclick("#voice-record"); // a second click while access is pending starts no second recording
  await page.waitForFunction(() => document.querySelector("#voice-form .level").value > 0.02);
  await page.waitForTimeout(1300);
  await page.click("#voice-record");
  await page.waitForSelector("#voice-form .chosen:has-text('your recording')");
  const name = await page.textContent("#voice-form .chosen");
  const listening = await page.evaluate(() => window.microphones.map((element) => element.readyState));
  await page.fill("#setting-coefficient-number", "0.75");
  return { name, listening, status: await send(page, "voice"), before: await drawn(page, "#voice-before") };
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
  return page.$eval("#voice-form .stop", (element) => element.hidden);
}

// Another clip is chosen while the first is computed: the first answer must not be shown beside it.
async function overtaken(page, { clip }) {
  await page.route("**/v1/anonymise/voice*", async (route) => {
    const answer = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.fulfill({ response: answer }).catch(() => {});
  });
  await page.click("#voice-form [type=submit]");
  await page.setInputFiles("#voice-file", clip);
  const status = await settled(page, "voice");
  await page.unroute("**/v1/anonymise/voice*");
  return { status, shown: await page.isVisible("#voice-after figure") };
}

async function recording(page, { clip, transcript }) {
  const result = {};
  await go(page, "recording");
  await page.setInputFiles("#recording-file", clip);
  await page.waitForSelector("#recording-before figure:not([hidden])");
  result.noText = await send(page, "recording");
  await page.fill("#transcript", transcript);
  await page.selectOption("#mask", "beep");
  await page.selectOption("#change", "none");
  result.status = await send(page, "recording");
  result.text = await page.textContent("#masked-text");
  result.stretches = await page.$$eval("#recording-before .stretches > div", (all) =>
    all.map((element) => [parseFloat(element.style.left), parseFloat(element.style.width), element.textContent]),
  );
  result.masked = await page.$$eval("#recording-after .stretches > div", (all) => all.length);
  result.drawn = await drawn(page, "#recording-after");
  result.saved = await saved(page, "#recording-save");
  result.notes = await page.textContent("#recording-notes");
  await page.fill("#transcript", "quite other words were never said in this place at all");
  result.withheld = await send(page, "recording");
  result.stale = await page.isVisible("#recording-notes");
  await page.fill("#transcript", transcript); // for the pictures
  await send(page, "recording");
  return result;
}

module.exports = { voice, recorded, cancelled, overtaken, recording };
