// The parts of the page that are read: texts, measures, audits.
"use strict";
const { go, send, drop } = require("./drive_open.cjs");

async function text(page) {
  const found = { languages: {} };
  await go(page, "text");
  await page.waitForSelector("#language option", { state: "attached" });
  found.empty = await send(page, "text");
  for (const lang of await page.$$eval("#language option", (all) => all.map((one) => one.value))) {
    await page.selectOption("#language", lang);
    await page.click("#text-example");
    const said = await send(page, "text");
    const marks = await page.$$eval("#found mark", (all) => all.map((one) => one.textContent));
    found.languages[lang] = { said, marks, leak: await page.textContent("#leak-bound") };
  }
  await page.selectOption("#language", "en");
  await page.fill("#words", "My name is Ann Lee, I live in Berlin 🙂 and my mail is ann@example.org.");
  await send(page, "text");
  found.marks = await page.$$eval("#found mark", (all) => all.map((one) => one.textContent));
  found.rows = await page.$$eval("#findings tbody tr", (all) =>
    all.map((one) => [...one.children].map((cell) => cell.textContent)),
  );
  found.strategies = Object.fromEntries(
    await page.$$eval(".strategy", (all) => all.map((one) => [one.id.slice(9), one.querySelector(".words").textContent])),
  );
  found.replaced = await page.$$eval("#strategy-typed mark", (all) => all.map((one) => one.textContent));
  await page.click("#strategy-typed button");
  await page.waitForFunction(() => document.querySelector("#strategy-typed button").textContent === "Copied");
  found.copied = await page.evaluate(() => navigator.clipboard.readText());
  return found;
}

const shown = (page) =>
  page.$eval("#measure-result", (one) => ({
    verdict: one.querySelector(".card").textContent,
    rows: [...one.querySelectorAll("table")][0].innerText,
    figures: [...one.querySelectorAll("figure svg title")].map((title) => title.textContent),
    text: one.textContent,
  }));

async function measures(page, { scores, kaldi, original, anonymised }) {
  const found = { scores: {} };
  await go(page, "measures");
  found.noFile = await send(page, "measures");
  for (const file of scores) {
    await drop(page, "#measure-files .drop", file, "");
    found.scores[file.split(".").pop()] = { said: await send(page, "measures"), ...(await shown(page)) };
  }
  await page.click("#measures-form details:has(#measure-more) summary");
  await page.setInputFiles("#scores", kaldi.scores);
  await page.setInputFiles("#utt2spk", kaldi.utt2spk);
  found.noTrials = await send(page, "measures");
  await page.setInputFiles("#trials", kaldi.trials);
  found.kaldi = { said: await send(page, "measures"), ...(await shown(page)) };
  await page.click("label[for=question-scores]");
  await page.click("label[for=question-similarity]");
  await page.click("label[for=question-scores]"); // files are gone, the question is the same
  await page.setInputFiles("#scores", original);
  found.wrong = await send(page, "measures");
  found.stale = await page.isVisible("#measure-result");
  await page.click("label[for=question-similarity]");
  await page.setInputFiles("#original", original);
  await page.setInputFiles("#anonymised", anonymised);
  await page.click("#measures-form details:has(#measure-settings) summary");
  await page.selectOption("#interval", "0");
  found.similarity = { said: await send(page, "measures"), ...(await shown(page)) };
  await page.click("label[for=question-reidentify]");
  await page.setInputFiles("#enrol", original);
  await page.setInputFiles("#trial", anonymised);
  await page.selectOption("#interval", "0");
  await page.fill("#lengths", "1,3");
  await page.fill("#populations", "5,12");
  found.reidentify = { said: await send(page, "measures"), ...(await shown(page)) };
  return found;
}

async function audits(page) {
  await go(page, "audits");
  await page.waitForSelector("#audits-list > *");
  const found = { list: await page.innerText("#audits-list"), state: await page.textContent("#audits-state") };
  const link = await page.$("#audits-list a");
  if (link) {
    const [report] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await report.waitForSelector("h1");
    found.report = {
      title: await report.textContent("h1"),
      figures: await report.$$eval("svg", (all) => all.length),
      styled: await report.$eval("body", (one) => getComputedStyle(one).marginTop),
    };
    await report.close();
  }
  return found;
}

// A service that wants a token: asked for, kept, and brought along to reports.
async function token(page, word) {
  await page.waitForSelector("#access:not([hidden])");
  const closed = !(await page.isVisible("#voice-form"));
  await page.fill("#token", "another");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#offline:has-text('not the token')");
  await page.fill("#token", word);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#method-mcadams");
  return { closed, asked: await page.isVisible("#token"), ...(await audits(page)) };
}

module.exports = { text, measures, audits, token };
