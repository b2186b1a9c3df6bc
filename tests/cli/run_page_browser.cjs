// The page of a run in headless Chromium, driven by Playwright: console, overflow, accessibility (axe-core), time to the first paint,
// frames while one zooms - by Chromium's own tracing.
//
// usage: NODE_PATH=.. node run_page_browser.cjs CHROMIUM PAGE [FOLDER]      FOLDER: screenshots are left there
"use strict";
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [, , program, file, folder] = process.argv;
const fail = (what) => { console.error(`run_page_browser: ${what}`); process.exitCode = 1; };

async function opened(browser, width, theme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) fail(`${width} ${theme}, console: ${message.text()}`); });
  page.on("pageerror", (error) => fail(`${width} ${theme}: ${error.message}`));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) fail(`asks the network for ${request.url()}`); });
  await page.goto(`file://${path.resolve(file)}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  return page;
}

const kPaint = 1000, kFrames = 30, kFrame = 15;  // ms at the most, frames a second at the least, or ms of each

/// Milliseconds to the first paint of something, of as many loads as it takes: other work on this machine only adds to it.
async function firstPaint(browser) {
  let best = Infinity;
  for (let i = 0; i < 5 && !(best < kPaint); ++i) {
    const page = await opened(browser, 1400, "light");
    const at = await page.evaluate(() => new Promise((resolve) => {
      const look = () => { const paint = performance.getEntriesByName("first-contentful-paint")[0]; if (paint) resolve(paint.startTime); else setTimeout(look, 20); };
      look();
    }));
    best = Math.min(best, at);
    await page.context().close();
  }
  return best;
}

/// While the wheel zooms into the timeline and out again: frames a second that are drawn, and milliseconds of processor time that the
/// page takes for one. The first is lower where this machine does other work too; the second is not.
async function framesPerSecond(browser) {
  let best = 0, least = Infinity;
  for (let i = 0; i < 3 && !(best >= kFrames || least < kFrame); ++i) {
    const page = await opened(browser, 1400, "light");
    const box = await page.locator("#time").boundingBox();
    await page.locator("#time").scrollIntoViewIfNeeded();
    const place = await page.locator("#time").boundingBox();
    await page.mouse.move(place.x + place.width * 0.6, place.y + box.height / 2);
    const session = await page.context().newCDPSession(page);
    const events = [];
    session.on("Tracing.dataCollected", (data) => events.push(...data.value));
    await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["devtools.timeline", "disabled-by-default-devtools.timeline.frame"] } });
    await page.evaluate(() => new Promise((resolve) => {
      const canvas = document.querySelector("#time"), box = canvas.getBoundingClientRect(), begin = performance.now();
      const turn = () => {
        const at = performance.now() - begin;
        if (at > 2000) { resolve(); return; }
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: at < 1000 ? -60 : 60, clientX: box.left + box.width * 0.6, clientY: box.top + 60, bubbles: true, cancelable: true }));
        requestAnimationFrame(turn);
      };
      requestAnimationFrame(turn);
    }));
    const ended = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
    await session.send("Tracing.end");
    await ended;
    const frames = events.filter((event) => event.name === "DrawFrame").map((event) => event.ts);
    const seconds = (Math.max(...frames) - Math.min(...frames)) / 1e6;
    best = Math.max(best, frames.length / seconds);
    const drawn = events.filter((event) => event.name === "FireAnimationFrame" && event.tdur !== undefined);
    least = Math.min(least, drawn.reduce((sum, event) => sum + event.tdur, 0) / 1000 / drawn.length);
    await page.context().close();
  }
  return [best, least];
}

(async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  // A window is narrow at first in one theme and wide in the other.
  for (const [theme, ...widths] of [["light", 390, 768, 1400], ["dark", 1400, 768, 390]]) {
    const page = await opened(browser, widths[0], theme);
    await page.evaluate(() => page.begin());
    await page.evaluate(axe);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) fail(`${over} pixels beyond ${width}`);
      if (await page.evaluate(() => document.documentElement.dataset.theme) !== theme) fail(`the theme of the system is ${theme}`);
      const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      for (const fault of found.violations.filter((one) => ["serious", "critical"].includes(one.impact)))
        fail(`${width} ${theme}, accessibility, ${fault.impact}: ${fault.id}, ${fault.help}: ${fault.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
      // By keyboard alone: a cause is chosen, the timeline zooms.
      if (await page.locator("#cause-bar button").count()) {
        await page.locator("#cause-bar button").first().focus();
        await page.keyboard.press("Enter");
        if (await page.locator("#cause-bar button").first().getAttribute("aria-pressed") !== "true") fail("the key Enter chooses no cause");
        await page.keyboard.press("Enter");
      }
      await page.locator("#time").focus();
      const before = await page.evaluate(() => page.range());
      await page.keyboard.press("+");
      const after = await page.evaluate(() => page.range());
      if (!(after[1] - after[0] < before[1] - before[0])) fail("the key + does not zoom");
      await page.keyboard.press("0");
      if (folder) await page.screenshot({ path: path.join(folder, `page_${theme}_${width}.png`), fullPage: true });
    }
    await page.context().close();
  }
  const paint = await firstPaint(browser), [frames, least] = await framesPerSecond(browser);
  console.log(`${path.basename(file)}: first paint after ${paint.toFixed(0)} ms, ${frames.toFixed(0)} frames a second while zooming, ${least.toFixed(1)} ms of processor time each, ${fs.statSync(file).size.toLocaleString("en")} bytes`);
  if (!(paint < kPaint)) fail(`first paint after ${paint} ms`);
  if (!(frames >= kFrames || least < kFrame)) fail(`${frames} frames a second, ${least} ms each`);
  await browser.close();
})().catch((error) => { fail(error.stack); process.exit(1); });
