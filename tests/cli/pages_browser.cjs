// Pages of every kind in headless Chromium: nothing beyond the window, accessible (axe-core), the verdict in sight, each chart with its
// table, and nothing lost on paper.
//
// usage: NODE_PATH=.. node pages_browser.cjs CHROMIUM PAGE...
"use strict";
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [, , program, ...files] = process.argv;
const kSheet = 718;  // pixels of A4 between margins of 10 mm
const fail = (what) => { console.error(`pages_browser: ${what}`); process.exitCode = 1; };

async function opened(browser, file, width, theme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) fail(`${file} ${width} ${theme}, console: ${message.text()}`); });
  page.on("pageerror", (error) => fail(`${file} ${width} ${theme}: ${error.message}`));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) fail(`${file} asks the network for ${request.url()}`); });
  await page.goto(`file://${path.resolve(file)}`);
  await page.waitForFunction(() => !document.querySelector("script") || document.documentElement.dataset.ready === "yes");
  await page.evaluate(() => window.page?.begin?.());
  await page.evaluate(axe);
  return page;
}

async function onScreen(page, file, width, theme) {
  const where = `${file} ${width} ${theme}`;
  await page.setViewportSize({ width, height: 900 });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (over > 0) fail(`${where}: ${over} pixels beyond the window`);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const fault of found.violations.filter((one) => ["moderate", "serious", "critical"].includes(one.impact)))
    fail(`${where}, accessibility, ${fault.impact}: ${fault.id}, ${fault.help}: ${fault.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  const seen = await page.evaluate(() => {
    const verdict = document.querySelector("#answer[hidden]") ? null : document.querySelector("#verdict, h2 + p");
    return { top: verdict?.getBoundingClientRect().bottom + scrollY, words: verdict?.textContent.length,
      // Of a chart without a table of its own the rows of the page are the values.
      bare: [...document.querySelectorAll(".chart, .stack")].filter((chart) => chart.offsetParent && !chart.closest(".panel").querySelector("table, #cause-list") && !document.querySelector("#table, section .panel h2 + .scroll table")).length };
  });
  if (seen.top && !(seen.top < 900 && seen.words > 20)) fail(`${where}: the verdict ends at ${seen.top}`);
  if (seen.bare) fail(`${where}: ${seen.bare} charts without a table`);
}

async function onPaper(page, file, theme) {
  const where = `${file} on paper, ${theme}`;
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print", colorScheme: theme });
  await page.setViewportSize({ width: kSheet, height: 1000 });
  await page.waitForTimeout(200);
  const found = await page.evaluate(() => {
    const shown = (node) => node.getClientRects().length > 0 && getComputedStyle(node).visibility !== "hidden";
    const all = [...document.querySelectorAll("body *")].filter((node) => shown(node) && !node.closest("svg, dialog"));
    return { over: document.documentElement.scrollWidth - innerWidth, theme: document.documentElement.dataset.theme ?? "light",
      controls: all.filter((node) => node.matches(".bar button, .bar select, .bar input, #theme")).length,
      clipped: all.filter((node) => node.matches(".scroll") && (node.scrollHeight > node.clientHeight + 2 || node.scrollWidth > node.clientWidth + 2)).map((node) => `${node.getAttribute("aria-label")} ${node.scrollWidth} of ${node.clientWidth}`),
      charts: all.filter((node) => node.matches("canvas") && node.getBoundingClientRect().right > innerWidth + 1).length,
      nameless: document.querySelectorAll("#cause-list .swatch").length - all.filter((node) => node.matches("#cause-list button")).length };
  });
  if (found.over > 0) fail(`${where}: ${found.over} pixels beyond the sheet`);
  if (found.theme !== "light") fail(`${where}: the theme is ${found.theme}`);
  if (found.controls) fail(`${where}: ${found.controls} controls`);
  if (found.clipped.length) fail(`${where}: clipped: ${found.clipped.join(", ")}`);
  if (found.charts) fail(`${where}: ${found.charts} charts beyond the sheet`);
  if (found.nameless) fail(`${where}: ${found.nameless} causes without a name`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  if (await page.evaluate(() => document.documentElement.dataset.theme ?? "none") === (theme === "dark" ? "light" : "dark")) fail(`${where}: another theme afterwards`);
}

(async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  for (const file of files) {
    // Each width is the first one in one theme, and what the window is made in the other.
    for (const [theme, ...widths] of [["light", 390, 1280], ["dark", 1280, 390]]) {
      const page = await opened(browser, file, widths[0], theme);
      for (const width of widths) await onScreen(page, file, width, theme);
      await onPaper(page, file, theme);
      await page.context().close();
    }
  }
  await browser.close();
  console.log(`${files.length} pages in two widths, both themes and on paper`);
})().catch((error) => { fail(error.stack); process.exit(1); });
