// A headless Chromium, and pages that attn wrote in it.
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

// Writes a page, and opens it. `said` gathers what the console says, and every address that the page asks for.
export async function open(browser, program, words, options = {}) {
  const path = join(folder, "page.html");
  attn(program, "page", ...words, "-o", path);
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
