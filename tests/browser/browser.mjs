// A headless Chromium, and pages that attn wrote in it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const programs = [
  process.env.ATTN_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

export function launch() {
  const executablePath = programs.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("there is no Chromium: apt-get install chromium, or set ATTN_CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

export const folder = mkdtempSync(join(tmpdir(), "attn-pages-"));

export function attn(program, ...words) {
  return execFileSync(program, words, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

// Opens a page that was written. `said` gathers what the console says, and every address that the page asks for.
async function openWritten(browser, path, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => said.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url() !== pathToFileURL(path).href) said.push(`asked for ${request.url()}`);
  });
  await page.goto(pathToFileURL(path).href);
  return { page, said, path, close: () => context.close() };
}

// The numbers of a page, by the names of matrices.
export const numbersOf = (tab) =>
  tab.evaluate(() =>
    Object.fromEntries(page.nodes.filter((node) => node.name).map((node) => [node.name, [...node.cells]])),
  );

// Whether a page has the numbers that a command line has. Returns how many were compared.
export async function checkSame(program, tab, words, where) {
  const found = await numbersOf(tab);
  const { arrays } = JSON.parse(attn(program, ...words, "--only", "*", "--format", "json"));
  let compared = 0;
  for (const [name, rows] of Object.entries(arrays)) {
    rows.flat().forEach((cell, i) => {
      const [number, other] = [Number(cell), found[name]?.[i]];
      const isSame = number === other || Math.abs(number - other) <= 1e-9 * Math.max(1, Math.abs(number));
      assert.ok(isSame, `${where}: ${name}, cell ${i}: ${other} instead of ${number}`);
      ++compared;
    });
  }
  assert.ok(compared > 10, where);
  return compared;
}

// Chooses a cell, wherever its table is, and says how the page explains it.
export async function choose(tab, { name, row, column }) {
  return tab.evaluate(
    ({ name, row, column }) => {
      page.grids.goTo({ node: page.computation.byName.get(name), row, column });
      const made = document.querySelector("#derivation .made");
      const lines = [...made.querySelectorAll(":scope > .lines > li")].map((line) => line.textContent);
      const reason = made.querySelector(":scope > .reason")?.textContent ?? "";
      return [made.querySelector(".subject").textContent, ...lines, reason].join(" ");
    },
    { name, row, column },
  );
}

// Types another number into a cell.
export async function change(tab, name, row, column, text) {
  await choose(tab, { name, row, column });
  await tab.keyboard.press("Enter");
  await tab.keyboard.type(text);
  await tab.keyboard.press("Enter");
}

// Writes a page, and opens it.
export function open(browser, program, words, options = {}) {
  const path = join(folder, "page.html");
  attn(program, "page", ...words, "-o", path);
  return openWritten(browser, path, options);
}

// The same of a lesson.
export function openLesson(browser, program, lesson, options = {}) {
  const path = join(folder, "lesson.html");
  attn(program, "lesson", "export", lesson, path, "--format", "page", "--yes");
  return openWritten(browser, path, options);
}

// With ATTN_SAMPLE=K/N in the environment one attempt in N is made, from the one after K on; otherwise all.
const [first, step] = (process.env.ATTN_SAMPLE ?? "0/1").split("/").map(Number);
let attempts = 0;
export const isInSample = () => attempts++ % step === first;
