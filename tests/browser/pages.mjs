// Pages that attn writes for browsers, in headless Chromium: each computes the program's numbers, explains them
// as attn explain does, follows changes, works by keyboard alone, and has no serious finding of axe-core.
// Usage: node pages.mjs PROGRAM [WORD]   those whose command line has the word
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { attn, folder, launch, open } from "./browser.mjs";

const program = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch();
const began = performance.now();

// The first of its tables: the others list models.
const examples = attn(program, "examples", "--format", "csv")
  .split("\n\n")[0]
  .split("\n")
  .slice(1)
  .map((line) => line.split('"')[1]);

// Command lines: every example, and each kind of model.
const pages = [
  ["walk"],
  ...examples.map((name) => ["walk", "--example", name]),
  ["walk", "--example", "animal", "--causal"],
  ["walk", "--text", "the dog saw the cat", "--heads", "2", "--positions", "rotary", "--d-model", "8"],
  ["walk", "--text", "the dog saw the cat", "--positions", "relative-vectors", "--score", "additive"],
  ["walk", "--text", "le chat dort", "--memory-text", "the cat sleeps", "--transpose"],
  ["walk", "--scores", "1 2; 3 4", "--causal"],
  ["walk", "--weights", "2 3; 0 1", "--v", "1; 2"],
  ["encoder"],
  ["encoder", "--layers", "2", "--norm", "pre", "--activation", "gelu", "--norm-kind", "rms"],
  ["decoder"],
  ["transformer"],
  ["transformer", "--kind", "decoder-only", "--positions", "rotary"],
  ["transformer", "--model", "copy"],
  ["walk", "--model", "coreference"],
  ["align"],
  ["align", "--variant", "luong", "--source", "la fleur petite est blanche"],
  ["align", "--seed", "7", "--hidden", "4", "--cell", "gru", "--source", "one two three"],
];
assert.ok(examples.includes("animal"));

const shortened = (text) => text.replace(/\s+/g, " ").trim();

// A few cells of every kind of operation that the page has: the last one of each.
async function cellsToExplain(tab) {
  return tab.evaluate(() => {
    const chosen = new Map();
    for (const table of page.tables) {
      const { node } = table;
      const kind = node.operation ?? "input";
      chosen.set(kind, { kind, name: node.name, row: node.rows - 1, column: node.columns - 1 });
    }
    return [...chosen.values()];
  });
}

async function choose(tab, { name, row, column }) {
  await tab.evaluate(
    ({ name, row, column }) => {
      const table = page.tables.find((one) => one.node.name === name);
      table.cells[row][column].focus();
    },
    { name, row, column },
  );
  return tab.evaluate(() => {
    const made = document.querySelector("#derivation .made");
    const lines = [...made.querySelectorAll(":scope > .lines > li")].map((line) => line.textContent);
    const reason = made.querySelector(":scope > .reason")?.textContent ?? "";
    return [made.querySelector(".subject").textContent, ...lines, reason].join(" ");
  });
}

const timesExplained = new Map(); // by operation: a few times each are enough

async function checkExplanations(tab, words) {
  const [command, ...options] = words;
  const isNew = ({ kind }) => (timesExplained.get(kind) ?? 0) < 3;
  const cells = (await cellsToExplain(tab)).filter(isNew);
  for (const { kind } of cells) timesExplained.set(kind, (timesExplained.get(kind) ?? 0) + 1);
  for (const cell of cells) {
    const said = shortened(await choose(tab, cell));
    const address = `${cell.name}[${cell.row + 1},${cell.column + 1}]`;
    const line =
      command === "walk"
        ? ["explain", address, ...options.filter((word) => word !== "--transpose")]
        : [...words, "--explain", address];
    if (cell.name.includes("alignment")) continue; // attn explain has no transposed weights
    const printed = shortened(attn(program, ...line, "--width", "100000"));
    assert.ok(printed.endsWith(said), `${words.join(" ")}: ${address}\npage: ${said}\nattn: ${printed}`);
  }
  return cells.length;
}

async function checkAccess(tab, where, rules) {
  await tab.evaluate(axe);
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const found = await tab.evaluate((options) => axe.run(document, options), options);
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const told = serious.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map((node) => node.html.slice(0, 150))
        .slice(0, 3)
        .join("\n")}`,
  );
  assert.deepEqual(told, [], where);
}

const isQuiet = (said, where) => assert.deepEqual(said, [], where);

// What does not hold is told at the end, and the rest is tried all the same.
const complaints = [];
async function attempt(what, act) {
  if (!what.includes(process.argv[3] ?? "")) return;
  try {
    await act();
  } catch (error) {
    complaints.push(`${what}\n${error.message}`);
  }
}

// --- every kind of page

let explained = 0;
for (const words of pages)
  await attempt(words.join(" "), async () => {
    const where = words.join(" ");
    const { page: tab, said, path, close } = await open(browser, program, words);
    const agreement = await tab.textContent("#agreement");
    assert.match(agreement, /all [0-9,]+ numbers agreed/, where);
    explained += await checkExplanations(tab, words);
    await checkAccess(tab, `${where}, light`);
    await tab.emulateMedia({ colorScheme: "dark" });
    await checkAccess(tab, `${where}, dark`, ["color-contrast"]); // the rest is the same
    await tab.setViewportSize({ width: 360, height: 740 });
    const width = await tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${where}: ${width} pixels wide on a phone`);
    isQuiet(said, where);
    if (where === "walk") assert.ok(statSync(path).size < 150_000, `${statSync(path).size} bytes`);
    await close();
  });

// --- without scripts everything is there

await attempt("without scripts", async () => {
  const { page: tab, said, close } = await open(browser, program, ["walk"], { javaScriptEnabled: false });
  const text = await tab.innerText("main");
  for (const word of ["look at?", "Softmax", "0.8808", "attends most to"]) assert.ok(text.includes(word), word);
  assert.ok(!(await tab.isVisible("#live")));
  isQuiet(said, "without scripts");
  await close();
});

// --- changes: what the page shows then is what the program computes from the changed input

async function numbersOf(tab) {
  return tab.evaluate(() =>
    Object.fromEntries(page.nodes.filter((node) => node.name).map((node) => [node.name, [...node.cells]])),
  );
}

const asNumber = (cell) => Number(cell);

async function checkSame(tab, words, where) {
  const found = await numbersOf(tab);
  const { arrays } = JSON.parse(attn(program, ...words, "--only", "*", "--format", "json"));
  let compared = 0;
  for (const [name, rows] of Object.entries(arrays)) {
    const expected = rows.flat().map(asNumber);
    expected.forEach((number, i) => {
      const other = found[name]?.[i];
      const isSame = number === other || Math.abs(number - other) <= 1e-9 * Math.max(1, Math.abs(number));
      assert.ok(isSame, `${where}: ${name}, cell ${i}: ${other} instead of ${number}`);
      ++compared;
    });
  }
  assert.ok(compared > 10, where);
}

async function change(tab, name, row, column, text) {
  await choose(tab, { name, row, column });
  await tab.keyboard.press("Enter");
  await tab.keyboard.type(text);
  await tab.keyboard.press("Enter");
}

const changes = [
  { page: ["walk"], cell: ["x", 0, 0], to: "5", same: ["walk", "--x", "5 0 0; 0 1 1"], learn: "x" },
  {
    page: ["encoder", "--x", "1 2 3 4; 0 1 0 1"],
    cell: ["source.x", 0, 0],
    to: "-2.5",
    same: ["encoder", "--x", "-2.5 2 3 4; 0 1 0 1"],
  },
  {
    page: ["decoder", "--kind", "decoder-only", "--target-x", "1 2 3 4; 0 1 0 1"],
    cell: ["target.x", 1, 3],
    to: "7",
    same: ["decoder", "--kind", "decoder-only", "--target-x", "1 2 3 4; 0 1 0 7"],
  },
];
for (const { page: words, cell, to, same, learn } of changes)
  await attempt(`${words.join(" ")}, changed`, async () => {
    const { page: tab, said, close } = await open(browser, program, words);
    await change(tab, ...cell, to);
    assert.match(await tab.textContent("#changed"), /now\. Tables, explanations and the answer follow/);
    let line = same;
    if (learn) {
      // The whole problem, with one number changed.
      const { problem } = JSON.parse(attn(program, ...words, "--format", "json"));
      const matrix = problem[learn];
      matrix[cell[1]][cell[2]] = Number(to);
      const path = join(folder, "changed.json");
      writeFileSync(path, JSON.stringify(problem));
      line = ["walk", "--problem", path];
    }
    await checkSame(tab, line, line.join(" "));
    const time = await tab.evaluate(() => {
      const start = performance.now();
      page.computation.compute();
      page.follow("");
      return performance.now() - start;
    });
    assert.ok(time < 100, `${words.join(" ")}: a change takes ${time} ms`);
    await tab.click("#reset");
    await checkSame(tab, words, `${words.join(" ")}, after all changes are undone`);
    await change(tab, ...cell, "four");
    assert.match(await tab.textContent("#changed"), /“four” is not a number/);
    isQuiet(said, words.join(" "));
    await close();
  });

// --- parts that are left out

const sentence = ["walk", "--text", "the dog saw the cat", "--heads", "2", "--d-model", "8"];
const without = [
  {
    page: ["walk", "--example", "thinking-machines"],
    part: "scale",
    same: ["walk", "--example", "thinking-machines", "--scale", "none"],
  },
  { page: [...sentence, "--causal"], part: "mask", same: sentence },
  ...["sinusoidal", "rotary", "relative-bias", "relative-vectors", "learned"].map((kind) => ({
    page: [...sentence, "--positions", kind],
    part: "positions",
    same: null,
  })),
];
for (const { page: words, part, same } of without)
  await attempt(`${words.join(" ")} without ${part}`, async () => {
    const { page: tab, said, close } = await open(browser, program, words);
    await tab.check(`#parts input[value=${part}]`);
    if (same) {
      const found = await numbersOf(tab);
      const { arrays } = JSON.parse(attn(program, ...same, "--format", "json"));
      const numbers = arrays.output.flat().map(asNumber);
      numbers.forEach((number, i) =>
        assert.ok(Math.abs(number - found.output[i]) < 1e-9, `${words.join(" ")} without ${part}`),
      );
    } else {
      // Without positions two equal words are the same query.
      const { weights, head } = await tab.evaluate(() => ({
        head: 1,
        weights: [...page.computation.byName.get("head.1.weights").cells],
      }));
      for (let j = 0; j < 5; ++j)
        assert.ok(Math.abs(weights[j] - weights[3 * 5 + j]) < 1e-12, `${words.join(" ")}, head ${head}`);
    }
    await tab.uncheck(`#parts input[value=${part}]`);
    await checkSame(tab, words, `${words.join(" ")} with ${part} again`);
    isQuiet(said, words.join(" "));
    await close();
  });

// --- by keyboard alone

await attempt("by keyboard alone", async () => {
  const { page: tab, said, close } = await open(browser, program, ["walk", "--example", "animal"]);
  const focused = () =>
    tab.evaluate(() => {
      const at = page.cellAt(document.activeElement);
      return at?.cell === document.activeElement
        ? `${at.node.name}[${at.row + 1},${at.column + 1}]`
        : document.activeElement.tagName;
    });
  for (let i = 0; i < 60 && !(await focused()).includes("["); ++i) await tab.keyboard.press("Tab");
  const first = await focused();
  assert.match(first, /\[1,1\]$/);
  const matrix = first.slice(0, first.indexOf("["));
  const { rows, columns } = await tab.evaluate((name) => {
    const node = page.computation.byName.get(name);
    return { rows: node.rows, columns: node.columns };
  }, matrix);
  for (const [key, place] of [
    ["ArrowRight", "[1,2]"],
    ["ArrowDown", "[2,2]"],
    ["ArrowLeft", "[2,1]"],
    ["ArrowUp", "[1,1]"],
    ["ArrowUp", "[1,1]"],
    ["End", `[1,${columns}]`],
    ["Control+End", `[${rows},${columns}]`],
    ["Home", `[${rows},1]`],
    ["Control+Home", "[1,1]"],
  ]) {
    await tab.keyboard.press(key);
    assert.equal(await focused(), matrix + place, key);
  }
  await tab.keyboard.press("Tab");
  const second = await focused();
  assert.ok(!second.startsWith(`${matrix}[`), "one stop of Tab in each table");
  await tab.keyboard.press("Shift+Tab");
  assert.equal(await focused(), first);
  await tab.keyboard.press("7");
  await tab.keyboard.press("Enter");
  assert.match(await tab.textContent("#changed"), /is 7 now/);
  assert.equal(await focused(), first);
  await tab.keyboard.press("Enter");
  await tab.keyboard.press("Escape");
  assert.equal(await focused(), first);
  await choose(tab, { name: "head.1.weights", row: 0, column: 0 });
  await tab.keyboard.press("Enter");
  assert.equal(await focused(), "BUTTON");
  await tab.keyboard.press("Enter");
  assert.equal(await tab.getAttribute(":focus", "aria-expanded"), "true");
  assert.ok((await tab.locator("#derivation .made .made").count()) === 1);
  assert.match(await tab.textContent("#announcement"), /^weights\[1,1\] = exp/);
  await tab.keyboard.press("Escape");
  assert.equal(await focused(), "BODY");
  assert.ok(!(await tab.isVisible("#explanation")));
  await tab.selectOption("#choose-word select", { index: 2 });
  const question = await tab.textContent("#question");
  const word = await tab.evaluate(() => page.nodes.find((node) => node.sums).rowAxis.labels[2]);
  assert.equal(question, `What does “${word}” look at?`);
  isQuiet(said, "by keyboard");
  await close();
});

// --- step by step

await attempt("step by step", async () => {
  const { page: tab, said, close } = await open(browser, program, ["walk", "--example", "animal"]);
  const shown = () =>
    tab.evaluate(() =>
      page.steps.all
        .filter((section) => !section.hidden)
        .map((section) => section.querySelector("h2").textContent),
    );
  const all = await shown();
  await tab.click("#next");
  assert.deepEqual(await shown(), all.slice(0, 1));
  await tab.selectOption("#choose-step select", { label: "10. Softmax (head.2)" });
  assert.deepEqual(await shown(), ["10. Softmax (head.2)"]);
  const brought = await tab.evaluate(() =>
    [...page.steps.shown.querySelectorAll(".beside table")].map((table) => table.dataset.matrix),
  );
  assert.deepEqual(brought, ["head.2.scaled"]);
  await choose(tab, { name: "head.2.weights", row: 7, column: 10 });
  const lit = await tab.evaluate(
    () => document.querySelectorAll("[data-matrix='head.2.scaled'] td.lit").length,
  );
  assert.equal(lit, 11);
  const offered = await tab.evaluate(() => [...page.steps.select.options].map((option) => option.text));
  assert.ok(
    offered.every((title) => !title.includes("head.1")),
    "steps of the other head are not offered",
  );
  await tab.selectOption("#choose-head select", { label: "average" });
  assert.match(await tab.textContent("#answer"), /average of all heads/);
  await tab.selectOption("#choose-step select", { index: 0 });
  assert.deepEqual(await shown(), all);
  await checkSame(tab, ["walk", "--example", "animal"], "all steps again");
  isQuiet(said, "step by step");
  await close();
});

// --- words of strangers

await attempt("words of strangers", async () => {
  const hostile = [
    "a|b",
    "_x_",
    "&amp;",
    "<b>",
    "</script><script>alert(1)</script>",
    "$x$",
    "\\frac",
    "\"'",
    "a,b",
    "🙂",
    "",
    "שלום",
    "a\u202eb\u0007",
    "<!--",
    "\u2028",
  ];
  const path = join(folder, "hostile.json");
  writeFileSync(path, JSON.stringify({ tokens: hostile, x: hostile.map((_, i) => [i, i % 3]) }));
  const { page: tab, said, close } = await open(browser, program, ["--problem", path, "--seed", "1"]);
  assert.match(await tab.textContent("#agreement"), /numbers agreed/);
  const shown = await tab.evaluate(() => {
    const table = page.tables.find((one) => one.node.name === "weights");
    return {
      rows: [...table.table.tBodies[0].rows].map((row) => row.cells[0].textContent),
      labels: table.node.rowAxis.labels,
      scripts: document.scripts.length,
      bold: document.querySelectorAll("main b").length,
    };
  });
  assert.deepEqual(shown.rows, shown.labels);
  hostile.forEach((word, i) => {
    if (!/[\u0000-\u001f\u2028\u202e]/.test(word)) assert.equal(shown.labels[i], word);
    else assert.ok(!shown.labels[i].includes("\u0007") && !shown.labels[i].includes("\u202e"));
  });
  assert.deepEqual([shown.scripts, shown.bold], [2, 0]);
  for (let i = 0; i < hostile.length; ++i) await tab.selectOption("#choose-word select", { index: i });
  await checkAccess(tab, "words of strangers");
  isQuiet(said, "words of strangers");
  await close();
});

await browser.close();
const seconds = ((performance.now() - began) / 1000).toFixed(0);
for (const complaint of complaints) console.error(`✗ ${complaint}\n`);
console.log(
  `${pages.length} pages, ${explained} explanations, ${complaints.length} complaints, in ${seconds} s`,
);
process.exitCode = complaints.length > 0 ? 1 : 0;
