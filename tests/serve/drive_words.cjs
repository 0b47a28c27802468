// The parts of the page without sound: texts, measures, audits.
"use strict";
const { go, send, drop } = require("./drive_open.cjs");

async function text(page) {
  const result = { languages: {} };
  await go(page, "text");
  await page.waitForSelector("#language option", { state: "attached" });
  result.empty = await send(page, "text");
  for (const lang of await page.$$eval("#language option", (all) => all.map((element) => element.value))) {
    await page.selectOption("#language", lang);
    await page.click("#text-example");
    const status = await send(page, "text");
    const marks = await page.$$eval("#text-words mark", (all) => all.map((element) => element.textContent));
    const taken = await page.$$eval("#text-languages li", (all) => all.map((element) => element.textContent));
    result.languages[lang] = { status, marks, taken, leak: await page.textContent("#leak-bound") };
  }
  await page.selectOption("#language", "en");
  await page.fill("#words", "My name is Ann Lee, I live in Berlin 🙂 and my mail is ann@example.org.");
  await send(page, "text");
  result.marks = await page.$$eval("#text-words mark", (all) => all.map((element) => element.textContent));
  result.rows = await page.$$eval("#findings tbody tr", (all) =>
    all.map((element) => [...element.children].map((cell) => cell.textContent)),
  );
  result.strategies = Object.fromEntries(
    await page.$$eval(".strategy", (all) => all.map((element) => [element.id.slice(9), element.querySelector(".words").textContent])),
  );
  result.replaced = await page.$$eval("#strategy-typed mark", (all) => all.map((element) => element.textContent));
  await page.click("#strategy-typed button");
  await page.waitForFunction(() => document.querySelector("#strategy-typed button").textContent === "Copied");
  result.copied = await page.evaluate(() => navigator.clipboard.readText());
  return result;
}

const shown = (page) =>
  page.$eval("#measure-result", (element) => ({
    verdict: element.querySelector(".card").textContent,
    rows: [...element.querySelectorAll("table")][0].innerText,
    figures: [...element.querySelectorAll("figure svg title")].map((title) => title.textContent),
    text: element.textContent,
  }));

async function measures(page, { scores, kaldi, original, anonymised }) {
  const result = { scores: {} };
  await go(page, "measures");
  result.noFile = await send(page, "measures");
  for (const file of scores) {
    await drop(page, "#measure-files .drop", file, "");
    result.scores[file.split(".").pop()] = { status: await send(page, "measures"), ...(await shown(page)) };
  }
  await page.click("#measures-form details:has(#measure-more) summary");
  await page.setInputFiles("#scores", kaldi.scores);
  await page.setInputFiles("#utt2spk", kaldi.utt2spk);
  result.noTrials = await send(page, "measures");
  await page.setInputFiles("#trials", kaldi.trials);
  result.kaldi = { status: await send(page, "measures"), ...(await shown(page)) };
  await page.click("label[for=question-scores]");
  await page.click("label[for=question-similarity]");
  await page.click("label[for=question-scores]"); // files are gone, the question is the same
  await page.setInputFiles("#scores", original);
  result.wrong = await send(page, "measures");
  result.stale = await page.isVisible("#measure-result");
  await page.click("label[for=question-similarity]");
  await page.setInputFiles("#original", original);
  await page.setInputFiles("#anonymised", anonymised);
  await page.click("#measures-form details:has(#measure-settings) summary");
  await page.selectOption("#interval", "0");
  result.similarity = { status: await send(page, "measures"), ...(await shown(page)) };
  await page.click("label[for=question-reidentify]");
  await page.setInputFiles("#enrol", original);
  await page.setInputFiles("#trial", anonymised);
  await page.selectOption("#interval", "0");
  await page.fill("#lengths", "1,3");
  await page.fill("#populations", "5,12");
  result.reidentify = { status: await send(page, "measures"), ...(await shown(page)) };
  return result;
}

async function audits(page) {
  await go(page, "audits");
  await page.waitForSelector("#audits-list > *");
  const result = { list: await page.innerText("#audits-list"), state: await page.textContent("#audits-state") };
  const link = await page.$("#audits-list a");
  if (link) {
    const [report] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await report.waitForSelector("h1");
    result.report = {
      title: await report.textContent("h1"),
      figures: await report.$$eval("svg", (all) => all.length),
      styled: await report.$eval("body", (element) => getComputedStyle(element).marginTop),
    };
    await report.close();
  }
  return result;
}

// A service that needs a token: the page asks for it, keeps it and sends it with requests for reports.
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
