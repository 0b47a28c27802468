// Opens pages of the documentation in Chromium and prints as JSON what a reader would meet.
// node open_site.cjs CHROMIUM FOLDER PICTURES PAGE…
"use strict";
const fs = require("fs");
const http = require("http");
const path = require("path");
const { chromium } = require("playwright-core");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
TYPES[".svg"] = "image/svg+xml";

function serve(folder) {
  const server = http.createServer((request, response) => {
    const file = path.join(folder, decodeURIComponent(new URL(request.url, "http://x").pathname));
    if (!fs.existsSync(file)) return response.writeHead(404).end();
    response.setHeader("Content-Type", TYPES[path.extname(file)] || "application/octet-stream");
    return fs.createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function look(browser, site, name, pictures) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const result = { page: name, elsewhere: [], console: [], missing: [], formulas: 0, overflow: 0 };
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(site) && !/^(data|blob):/.test(url)) result.elsewhere.push(url);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) result.missing.push(response.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) result.console.push(message.text());
  });
  page.on("pageerror", (error) => result.console.push(String(error)));
  await page.goto(`${site}/${name}`, { waitUntil: "networkidle" });
  result.heading = await page.textContent("h1");
  result.text = await page.innerText("article");
  result.formulas = await page.evaluate(() => document.querySelectorAll("math").length);
  result.overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  await page.screenshot({ path: path.join(pictures, `${path.basename(name, ".html")}.png`) });
  await page.close();
  return result;
}

// Types a word into the search field and counts the answers.
async function search(browser, site, word) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(`${site}/index.html`, { waitUntil: "networkidle" });
  await page.click("input.md-search__input"); // loads the index
  await page.keyboard.type(word);
  await page.waitForSelector(".md-search-result__item", { timeout: 90000 });
  const answers = await page.locator(".md-search-result__item").count();
  await page.close();
  return answers;
}

async function main() {
  const [executablePath, folder, pictures, ...names] = process.argv.slice(2);
  const server = await serve(folder);
  const site = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath, args: ["--disable-gpu"] });
  try {
    const pages = [];
    for (const name of names) pages.push(await look(browser, site, name, pictures));
    const answers = await search(browser, site, "linkability");
    process.stdout.write(JSON.stringify({ pages, answers }));
  } finally {
    await browser.close();
    server.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error}\n`);
  process.exit(1);
});
