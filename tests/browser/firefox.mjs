// The same pages in Firefox: they compute the program's numbers, follow a change, and the console is silent.
// Usage: node firefox.mjs PROGRAM
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { attn, folder } from "./browser.mjs";

const program = process.argv[2];
const executablePath = [process.env.ATTN_FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].find(
  (path) => path && existsSync(path),
);
if (!executablePath) throw new Error("there is no Firefox: apt-get install firefox-esr, or set ATTN_FIREFOX");
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });

const pages = [
  ["walk"],
  ["walk", "--example", "animal"],
  ["walk", "--text", "the dog saw the cat", "--heads", "2", "--d-model", "8", "--positions", "rotary"],
  ["transformer"],
  ["transformer", "--model", "coreference"],
  ["align"],
];
let compared = 0;
for (const words of pages) {
  const where = words.join(" ");
  const path = join(folder, "firefox.html");
  attn(program, "page", ...words, "-o", path);
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  const said = [];
  tab.on("console", (message) => said.push(message.text()));
  tab.on("pageerror", (error) => said.push(error.message));
  await tab.goto(pathToFileURL(path).href);
  const { agrees, count, isInView } = await tab.evaluate(() => {
    const { top, bottom } = document.getElementById("matrices").getBoundingClientRect();
    return {
      agrees: document.getElementById("agreement").dataset.agrees,
      count: page.computation.comparedNumbers(),
      isInView: top < innerHeight && bottom > 0,
    };
  });
  assert.equal(agrees, "true", where);
  assert.ok(isInView, `${where}: the matrices are in view`);
  compared += count;
  // A number of an input is changed by keyboard.
  const line = await tab.evaluate(() => {
    const node = page.nodes.find(
      (one) => one.name && !one.operation && one.content === undefined && one.rows * one.columns <= 2500,
    );
    page.grids.goTo({ node, row: 0, column: 0 });
    return node.name;
  });
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("1.5");
  await tab.keyboard.press("Enter");
  const command = await tab.evaluate(() => page.address.command());
  const found = await tab.evaluate(() =>
    Object.fromEntries(page.nodes.filter((node) => node.name).map((node) => [node.name, [...node.cells]])),
  );
  const { arrays } = JSON.parse(attn(program, "what-if", ...words, "--set", `${line}[1,1]=1.5`, "--only", "*", "--format", "json"));
  for (const [name, rows] of Object.entries(arrays))
    rows.flat().forEach((cell, i) => {
      const isSame = Number(cell) === found[name][i] || Math.abs(cell - found[name][i]) <= 1e-9 * Math.max(1, Math.abs(cell));
      assert.ok(isSame, `${where}, ${command}: ${name}, cell ${i}: ${found[name][i]} instead of ${cell}`);
      ++compared;
    });
  assert.deepEqual(said, [], where);
  await tab.close();
}
await browser.close();
console.log(`${pages.length} pages in Firefox, ${compared.toLocaleString("en")} numbers compared`);
