// Pages that attn writes for browsers, in headless Chromium: each computes the program's numbers, explains them
// as attn explain does, follows changes, works by keyboard alone, and has no serious finding of axe-core.
// Of lessons, questions are answered, and results changed.
// Usage: node pages.mjs PROGRAM [WORD]   those whose command line has the word
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { attn, change, checkSame, choose, folder, isInSample, launch, numbersOf, open, openLesson } from "./browser.mjs";

const program = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch();
const began = performance.now();

// Of its records those that are problems: the others are models.
const examples = JSON.parse(attn(program, "examples", "--format", "json"))
  .page.find((block) => block.name === "examples")
  .rows.filter((row) => row.kind === "problem")
  .map((row) => row.name);

// Command lines: every example, and each kind of model.
const pages = [
  ["walk"],
  ...examples.map((name) => ["walk", "--example", name]),
  ["walk", "--example", "animal", "--causal"],
  ["walk", "--text", "the dog saw the cat", "--heads", "2", "--positions", "rotary", "--d-model", "8"],
  ["walk", "--text", "the dog saw the cat", "--positions", "relative-vectors", "--score", "additive"],
  ["walk", "--q", "1 0; 1 0", "--k", "1 0; 0 1; 1 1", "--v", "1; 2; 3", "--positions", "rotary", "--causal-offset", "1"],
  ["walk", "--text", "dogs chase cats", "--positions", "tree-vectors", "--parents", "2 0 2", "--heads", "2"],
  ["walk", "--text", "<blank> dogs chase cats", "--positions", "learned", "--position-ids", "0 0 1 2"],
  ["walk", "--text", "le chat dort", "--memory-text", "the cat sleeps", "--transpose"],
  ["walk", "--scores", "1 2; 3 4", "--causal"],
  ["walk", "--weights", "2 3; 0 1", "--v", "1; 2"],
  ["encoder"],
  ["encoder", "--layers", "2", "--norm", "pre", "--activation", "gelu", "--norm-kind", "rms"],
  ["decoder"],
  ["transformer"],
  ["transformer", "--kind", "decoder-only", "--positions", "rotary"],
  ["transformer", "--kind", "decoder-only", "--positions", "rotary-halves", "--gated", "--activation", "silu"],
  ["transformer", "--model", "copy"],
  ["walk", "--model", "coreference"],
  ["walk", "--model", "course", "--text", "The query", "--head", "2"],
  ["walk", "--only", "scaled|weights"],
  ["align"],
  ["align", "--variant", "luong", "--source", "la fleur petite est blanche"],
  ["align", "--seed", "7", "--hidden", "4", "--cell", "gru", "--source", "one two three"],
  ["walk", "--example", "animal", "--from", "it"],
  ["walk", "--text", "the cat saw the dog <blank>", "--heads", "8", "--d-model", "512", "--random", "numpy:3"],
  ["backward"],
  ["backward", "--example", "animal", "--of", "output[it,1]"],
  ["backward", "encoder", "--layers", "1"],
  ["backward", "transformer", "--kind", "decoder-only", "--layers", "1"],
  ["backward", "align", "--source", "la fleur"],
  ["influence"],
  ["influence", "encoder", "--layers", "1"],
  ["positions", "--n", "8"],
  ["positions", "--positions", "learned", "--n", "8"],
  ["generate"],
  ["generate", "--model", "names", "--target", "m"],
  ["generate", "--model", "copy", "--source", "c a b", "--beams", "2"],
  ["train", "induction", "--steps", "40", "--examples", "40"],
  ["train", "reverse", "--steps", "30"],
  ["scores", "--example", "animal"],
  ["softmax", "--scores", "14 12; 1 2"],
  ["pool"],
  ["heads"],
  ["feed-forward"],
  ["embed", "--text", "the cat and the dog", "--d-model", "4"],
  ["layer-norm"],
  ["cross-entropy", "--logits", "2 1 0; 0 1 3", "--targets", "1,2"],
  ["lens", "--model", "copy"],
  ["compare-scores"],
  ["compare-masks"],
  ["split-heads", "--text", "the cat sat", "--heads", "2", "--d-model", "4"],
];
assert.ok(examples.includes("animal"));

const shortened = (text) => text.replace(/\s+/g, " ").trim();

// A few cells of every kind of operation that the text of the page has: the last one of each.
async function cellsToExplain(tab) {
  return tab.evaluate(() => {
    page.showText(true);
    const chosen = new Map();
    for (const table of page.text.tables) {
      const { node } = table;
      const kind = node.operation ?? "input";
      // What rounding leaves of 0 is another number everywhere.
      const isSure = (x) => x === 0 || !(Math.abs(x) < 1e-12);
      const place = node.cells.findLastIndex(isSure);
      if (place < 0) continue;
      const row = Math.floor(place / node.columns);
      chosen.set(kind, { kind, name: node.name, row, column: place % node.columns });
    }
    return [...chosen.values()];
  });
}

// What chooses a part of a computation, with its value.
const chooses = new Set(["--only", "--head", "--from"]);

// Commands whose page computes in another way than what they print, which `--explain` explains.
const computeOtherwise = new Set(["generate", "train", "influence"]);

const withoutForms = (options) =>
  options.filter((word, i) => word !== "--transpose" && !chooses.has(word) && !chooses.has(options[i - 1]));

const timesExplained = new Map(); // by operation: a few times each are enough

async function checkExplanations(tab, words) {
  const [command, ...options] = words;
  if (computeOtherwise.has(command)) return 0;
  const isNew = ({ kind }) => (timesExplained.get(kind) ?? 0) < 3;
  const cells = (await cellsToExplain(tab)).filter(isNew);
  for (const { kind } of cells) timesExplained.set(kind, (timesExplained.get(kind) ?? 0) + 1);
  for (const cell of cells) {
    const said = shortened(await choose(tab, cell));
    const address = `${cell.name}[${cell.row + 1},${cell.column + 1}]`;
    const line =
      command === "walk"
        ? ["explain", address, ...withoutForms(options)]
        : [...words, "--explain", address];
    if (cell.name.includes("alignment")) continue; // attn explain has no transposed weights
    if (cell.kind === "input" && options.some((word) => chooses.has(word))) continue; // it is computed there
    const printed = shortened(attn(program, ...line, "--width", "100000"))
      // The page says so beside the lines.
      .replace(/ The \d+ largest terms by magnitude are shown, in their order\. .*\(--full shows all\)\.$/, "");
    // Names are shorter where a part has no others like them.
    const alike = (text) => (options.includes("--head") ? text.replaceAll(/head\.\d+\./g, "") : text);
    assert.ok(alike(printed).endsWith(alike(said)), `${words.join(" ")}: ${address}\npage: ${said}\nattn: ${printed}`);
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
  if (!what.includes(process.argv[3] ?? "") || !isInSample()) return;
  try {
    await act();
  } catch (error) {
    complaints.push(`${what}\n${error.message}`);
  }
}

// --- every kind of page

let explained = 0;
let liveResults = 0;
let questions = 0;
let puzzles = 0;
let tries = 0;
let largestLesson = 0;
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
    if (where === "walk") assert.ok(statSync(path).size < 200_000, `${statSync(path).size} bytes`);
    await close();
  });

// --- numbers that are beyond double precision

for (const words of [["backward"], ["walk", "--example", "animal"], ["encoder", "--layers", "1"]])
  await attempt(`an address with a number that is too large: ${words.join(" ")}`, async () => {
    const { page: tab, said, path, close } = await open(browser, program, words);
    const name = await tab.evaluate(() => page.nodes.find((node) => !node.operation && node.name && !node.content).name);
    const before = await tab.evaluate(() => page.nodes.map((node) => [...node.cells]));
    const hasNone = async () => {
      const seen = (await tab.innerText("body")).replace(await tab.innerText("#changed"), "");
      assert.ok(!/NaN|∞/.test(seen), seen.match(/.*(NaN|∞).*/)?.[0]);
      assert.deepEqual(await tab.evaluate(() => page.nodes.map((node) => [...node.cells])), before);
      assert.match(await tab.textContent("#changed"), /beyond double precision/);
    };
    await tab.goto(`file://${path}#set=${encodeURIComponent(`${name}[1,1]=1e308`)}`);
    await hasNone();
    await tab.evaluate((name) => page.changes.take("1e308", { node: page.computation.byName.get(name), row: 0, column: 0 }), name);
    await hasNone();
    isQuiet(said, words.join(" "));
    await close();
  });

// --- what belongs together in a model, and how it came about

await attempt("what a model wrote", async () => {
  const { page: tab, said, close } = await open(browser, program, ["generate", "--model", "names", "--target", "m"]);
  const found = await tab.evaluate(() => {
    const { given, predictions } = page.data;
    const [{ ids, distribution, next }] = predictions;
    const words = page.nodes[ids];
    const rows = page.nodes[distribution];
    const best = Array.from({ length: rows.rows }, (_, i) => {
      const row = [...rows.cells.subarray(i * rows.columns, (i + 1) * rows.columns)];
      return row.indexOf(Math.max(...row)) + 1;
    });
    return { given, next, count: predictions.length, ids: [...words.cells], best };
  });
  assert.equal(found.count, 1);
  assert.ok(found.next && found.given >= 1 && found.ids.length > found.given, JSON.stringify(found));
  // After each word that was given or written, the model expects the one that it wrote.
  for (let i = found.given; i < found.ids.length; ++i) assert.equal(found.best[i - 1], found.ids[i], `word ${i + 1}`);
  isQuiet(said, "what a model wrote");
  await close();
});

await attempt("how a model was trained", async () => {
  const line = ["train", "induction", "--steps", "60", "--every", "20"];
  const { page: tab, said, close } = await open(browser, program, line);
  const { training, live } = await tab.evaluate(() => {
    const { training } = page.data;
    return { training, live: training.maps.at(-1).weights.map(({ node }) => [...page.nodes[node].cells]) };
  });
  assert.deepEqual(training.steps, [0, 20, 40, 60]);
  for (const curve of [training.loss, training.held_out, training.accuracy]) assert.equal(curve.length, 4);
  assert.ok(training.maps.length > 10 && training.maps[0].step === 0 && training.maps.at(-1).step === 60);
  // What the page computes with is the model at the end.
  training.maps.at(-1).weights.forEach(({ numbers }, i) =>
    numbers.forEach((number, j) => assert.ok(Math.abs(number - live[i][j]) <= 5.1e-4, `map ${i + 1}, cell ${j + 1}`)),
  );
  isQuiet(said, "how a model was trained");
  await close();
});

await attempt("random numbers are drawn on the page", async () => {
  const line = ["walk", "--text", "the cat saw the dog", "--heads", "8", "--d-model", "512"];
  const { page: tab, path, close } = await open(browser, program, line);
  assert.ok(statSync(path).size < 1_000_000, `${statSync(path).size} bytes`);
  const { arrays } = JSON.parse(attn(program, ...line, "--only", "x|w_q", "--format", "json"));
  for (const name of ["x", "w_q"]) {
    const drawn = await tab.evaluate((name) => [...page.computation.byName.get(name).given], name);
    assert.deepEqual(drawn, arrays[name].flat().map(Number), name);
  }
  await close();
});

// --- without scripts everything is there

await attempt("without scripts", async () => {
  const { page: tab, said, close } = await open(browser, program, ["walk"], { javaScriptEnabled: false });
  const text = await tab.innerText("main");
  for (const word of ["attend to?", "Softmax", "0.8808", "attends most to"]) assert.ok(text.includes(word), word);
  assert.ok(!(await tab.isVisible("#live")));
  isQuiet(said, "without scripts");
  await close();
});

// --- changes: what the page shows then is what the program computes from the changed input

const asNumber = (cell) => Number(cell);

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
    assert.match(await tab.textContent("#changed"), / is \S+ now\./);
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
    await checkSame(program, tab, line, line.join(" "));
    const time = await tab.evaluate(() => {
      const start = performance.now();
      page.computation.compute();
      page.follow("");
      return performance.now() - start;
    });
    assert.ok(time < 100, `${words.join(" ")}: a change takes ${time} ms`);
    await tab.click("#reset");
    await checkSame(program, tab, words, `${words.join(" ")}, after all changes are undone`);
    await change(tab, ...cell, "four");
    assert.match(await tab.textContent("#changed"), /“four” is not a number/);
    isQuiet(said, words.join(" "));
    await close();
  });

// --- words of a model: what the page shows follows its ids

await attempt("another word in a model", async () => {
  const model = ["transformer", "--model", "coreference"];
  const { page: tab, said, close } = await open(browser, program, model);
  const at = { name: "source.ids", row: 1, column: 0 };
  const { words, id } = await tab.evaluate(({ name, row }) => {
    const node = page.computation.byName.get(name);
    const id = page.computation.lists[node.words].indexOf("rabbit") + 1;
    return { words: node.rowAxis.labels.map((word, i) => (i === row ? "rabbit" : word)), id };
  }, at);
  await choose(tab, at);
  await tab.keyboard.press("Enter");
  await tab.locator("td select").selectOption(String(id));
  assert.match(await tab.textContent("#changed"), /source\.ids\[2,1\] is \d+ \(rabbit\) now\./);
  await checkSame(program, tab, [...model, "--source", words.join(" ")], "another word");
  const shown = await tab.evaluate((name) => {
    const heads = (name) => {
      const { table } = page.grids.tables.find((one) => one.node.name === name);
      return [...table.querySelectorAll("th[scope=row]")].map((head) => head.textContent);
    };
    const sentence = [...page.sentence.queries.querySelectorAll(".name")];
    const queries = [...document.querySelectorAll("#choose-word option")];
    return {
      rows: heads(name),
      sentence: sentence.map((word) => word.value),
      queries: queries.map((option) => option.textContent.replace(/^\d+ /, "")),
      answer: document.getElementById("answer").textContent,
      vocabulary: page.computation.byName.get("source.e")?.rowAxis.labels,
    };
  }, at.name);
  for (const name of ["rows", "sentence", "queries"]) assert.deepEqual(shown[name], words, name);
  assert.ok(shown.answer.includes("“rabbit”") && !shown.answer.includes("“animal”"), shown.answer);
  await tab.click("#reset");
  await checkSame(program, tab, model, "the words as they were");
  isQuiet(said, "another word in a model");
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
    await checkSame(program, tab, words, `${words.join(" ")} with ${part} again`);
    isQuiet(said, words.join(" "));
    await close();
  });

// --- by keyboard alone

await attempt("by keyboard alone", async () => {
  const { page: tab, said, close } = await open(browser, program, ["walk", "--example", "animal"]);
  const focused = () =>
    tab.evaluate(() => {
      const at = page.grids.cellAt(document.activeElement);
      return at?.cell === document.activeElement
        ? `${at.node.name}[${at.row + 1},${at.column + 1}]`
        : document.activeElement.tagName;
    });
  for (let i = 0; i < 120 && !(await focused()).includes("["); ++i) await tab.keyboard.press("Tab");
  assert.match(await focused(), /^head\.2\.scaled\[8,1\]$/, "what the shown number is made of");
  await tab.keyboard.press("Control+Home");
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
  await choose(tab, { name: "x", row: 0, column: 0 });
  await tab.keyboard.press("7");
  await tab.keyboard.press("Enter");
  assert.match(await tab.textContent("#changed"), /is 7 now/);
  assert.equal(await focused(), "x[1,1]");
  await tab.keyboard.press("Enter");
  await tab.keyboard.press("Escape");
  assert.equal(await focused(), "x[1,1]");
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
  assert.equal(question, `What does “${word}” attend to?`);
  isQuiet(said, "by keyboard");
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
    page.showText(true);
    const table = page.text.tables.find((one) => one.node.name === "weights");
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

// --- lessons

const lessons = attn(program, "lesson", "list", "--format", "csv")
  .split("\n")
  .map((line) => /^"[^"]*","(\d+)"/.exec(line)?.[1])
  .filter((number) => number);
assert.ok(lessons.length > 10);

// What the program says to numbers that are set; exit code 1 where they are no solution.
function saidToSettings(name, lines) {
  const words = ["puzzle", name, ...lines.flatMap((line) => ["--set", line]), "--no-input", "--format", "json"];
  words.push("--state", join(folder, "progress.json"));
  let written;
  try {
    written = attn(program, ...words);
  } catch (error) {
    assert.equal(error.status, 1, words.join(" "));
    written = error.stdout;
  }
  const note = JSON.parse(written).page.find(({ kind }) => kind === "wrong" || kind === "correct");
  return note.lines.map(shortened).join(" ");
}

// Numbers that are set at random are judged as the program judges them, and then the solution is typed.
async function playPuzzles(tab, where) {
  const played = await tab.evaluate(() => {
    const said = (form) => [...form.verdict.querySelectorAll("p:not(.advice)")].map((line) => line.textContent);
    let seed = 7;
    const drawn = (choices) => {
      seed = (seed * 48271) % 2147483647;
      return choices[seed % choices.length];
    };
    return page.puzzles.map((form) => {
      const { puzzle } = form;
      const isMask = puzzle.unknowns.some(({ name }) => name === "mask");
      const tries = [1, 2, 3, 4].map((round) => {
        const texts = form.fields.map((fields) =>
          fields.map((field) => {
            const text = isMask ? drawn(["0", "1"]) : drawn(round < 3 ? ["1", "8", "-3"] : ["0.5", "1/3", "2", "6"]);
            return (field.value = text);
          }),
        );
        form.check();
        const lines = puzzle.unknowns.map(({ name, columns }, i) => {
          const rows = [];
          for (let j = 0; j < texts[i].length; j += columns) rows.push(texts[i].slice(j, j + columns).join(" "));
          return `${name} = ${rows.join("; ")}`;
        });
        return { lines, said: said(form).join(" ") };
      });
      for (const line of puzzle.solution) {
        const [name, text] = line.split("=").map((part) => part.trim());
        const place = puzzle.unknowns.findIndex((unknown) => unknown.name === name);
        text.split(/[; ]+/).forEach((number, i) => (form.fields[place][i].value = number));
      }
      form.check();
      return { name: puzzle.name, tries, end: form.end, solved: said(form).join(" ") };
    });
  });
  for (const { name, tries: made, end, solved } of played) {
    for (const one of made) {
      const place = `${where}, puzzle ${name}: ${one.lines.join(", ")}`;
      assert.equal(shortened(one.said), saidToSettings(name, one.lines), place);
      ++tries;
    }
    assert.equal(end, "right", `${where}, puzzle ${name}`);
    assert.match(solved, /^Solved\./);
    ++puzzles;
  }
}

for (const lesson of lessons)
  await attempt(`lesson ${lesson}`, async () => {
    const where = `lesson ${lesson}`;
    const { page: tab, said, path, close } = await openLesson(browser, program, lesson);
    const live = await tab.evaluate(() => page.changes.length);
    if (live > 0) assert.match(await tab.textContent("#agreement"), /all [0-9,]+ numbers agreed/, where);
    liveResults += live;
    // Every question takes its answer, and says so.
    const judged = await tab.evaluate(() =>
      page.questions.map((one) => {
        const { answer, kind, shown } = one.question;
        one.write(kind === "shape" ? answer.join(" x ") : kind === "number" ? String(answer) : answer);
        one.check();
        return [one.end, one.verdict.textContent, `Correct: ${shown.endsWith(".") ? shown : `${shown}.`}`];
      }),
    );
    for (const [end, verdict, expected] of judged) assert.deepEqual([end, verdict], ["right", expected], where);
    questions += judged.length;
    await playPuzzles(tab, where);
    const counted = await tab.evaluate(() => page.questions.filter((one) => !one.question.predicts).length);
    assert.match(await tab.textContent("#score"), new RegExp(`${counted} correct at the first try\\.$`));
    const closed = await tab.evaluate(() => document.querySelectorAll("details.solution:not([open])").length);
    assert.equal(closed, 0, `${where}: what shows the answers is open`);
    await checkAccess(tab, `${where}, light`);
    await tab.emulateMedia({ colorScheme: "dark" });
    await checkAccess(tab, `${where}, dark`, ["color-contrast"]);
    await tab.setViewportSize({ width: 360, height: 740 });
    const width = await tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${where}: ${width} pixels wide on a phone`);
    const { size } = statSync(path);
    largestLesson = Math.max(largestLesson, size);
    assert.ok(size < 520_000, `${where}: ${size} bytes`);
    isQuiet(said, where);
    await close();
  });

await attempt("lesson softmax-and-scaling, answered by keyboard", async () => {
  const { page: tab, said, path, close } = await openLesson(browser, program, "softmax-and-scaling");
  const question = tab.locator("section.question").first();
  const field = question.locator("input[type=text]");
  const verdict = question.locator(".verdict");
  const answer = async (text) => {
    await field.fill(text);
    await field.press("Enter");
    return verdict.textContent();
  };
  const solution = tab.locator("details.solution").first();
  assert.equal(await solution.getAttribute("open"), null, "what shows the answer is closed");
  const [right, noted] = await tab.evaluate(() => {
    const { answer, recognised } = page.questions[0].question;
    return [answer, recognised.find((row) => row.kind === "note")];
  });
  assert.match(await answer("what"), /Please type a number/);
  assert.match(await answer("1,024"), /could be 1024 or 1\.024/);
  const hint = question.getByRole("button", { name: /^Hint/ });
  assert.ok(!(await hint.getAttribute("class"))?.includes("offered"));
  if (noted) assert.ok((await answer(String(noted.quantity))).includes(noted.says), "a mistake has its name");
  else await answer("777");
  await answer("777");
  assert.match(await hint.getAttribute("class"), /offered/, "a hint is offered after two misses");
  assert.match(await verdict.textContent(), /A hint may help/);
  await hint.click();
  assert.match(await question.locator(".help").textContent(), /^Hint/);
  assert.match(await answer(String(right)), /^Correct/);
  assert.notEqual(await solution.getAttribute("open"), null, "what shows the answer is open now");
  assert.match(await tab.textContent("#score"), /0 correct at the first try, 1 later/);
  // What was answered is there again, until it is forgotten.
  await tab.reload();
  assert.match(await verdict.textContent(), /^Correct/);
  assert.match(await tab.textContent("#score"), /1 later/);
  await tab.click("#all"); // the score stands at the end
  await tab.click("#again");
  assert.equal(await verdict.textContent(), "");
  assert.ok(!/later/.test(await tab.textContent("#score")));
  await question.getByRole("button", { name: "Show the answer" }).click();
  assert.match(await verdict.textContent(), /^The answer is/);
  isQuiet(said, path);
  await close();
});

await attempt("lesson softmax-and-scaling, step by step", async () => {
  const { page: tab, said, close } = await openLesson(browser, program, "softmax-and-scaling");
  const shown = () => tab.evaluate(() => document.querySelectorAll("section.question:not(.later)").length);
  const isEndShown = () => tab.isVisible("#end");
  assert.equal(await shown(), 1, "the first question, and nothing behind it");
  assert.ok(!(await isEndShown()));
  await tab.emulateMedia({ media: "print" });
  assert.ok(await isEndShown(), "on paper everything is there");
  await tab.emulateMedia({ media: "screen" });
  const first = tab.locator("section.question").first();
  await first.locator("input[type=text]").fill("777");
  await first.locator("input[type=text]").press("Enter");
  assert.equal(await shown(), 1, "a wrong answer leads no further");
  await first.getByRole("button", { name: "Skip" }).press("Enter");
  assert.equal(await shown(), 2);
  assert.match(await first.locator(".verdict").textContent(), /^Skipped/);
  const closed = await tab.locator("details.solution").first().getAttribute("open");
  assert.notEqual(closed, null, "what shows the answer follows");
  await tab.reload();
  assert.equal(await shown(), 2, "the way so far is kept");
  await tab.click("#all");
  assert.ok(await isEndShown());
  assert.equal(await tab.evaluate(() => document.querySelectorAll(".later").length), 0);
  isQuiet(said, "step by step");
  await close();
});

await attempt("the puzzle of lesson softmax-and-scaling, by keyboard", async () => {
  const { page: tab, said, close } = await openLesson(browser, program, "softmax-and-scaling");
  await tab.click("#all");
  const puzzle = tab.locator("section.puzzle");
  const field = (label) => puzzle.getByLabel(label);
  await field("scores[1,1]").fill("four");
  await field("scores[1,1]").press("Enter");
  assert.match(await puzzle.locator(".verdict").textContent(), /“four” is not a finite number/);
  await field("scores[1,1]").fill("2");
  await field("scores[1,1]").press("Tab");
  assert.match(await puzzle.locator("table[data-matrix=weights]").textContent(), /0\.8808/, "the matrix follows");
  await field("scores[1,1]").press("Enter");
  assert.match(await puzzle.locator(".verdict").textContent(), /^Not yet\./);
  await puzzle.getByRole("button", { name: /^Hint/ }).press("Enter");
  assert.match(await puzzle.locator(".help").textContent(), /^Hint 1 of/);
  await field("scores[1,1]").fill("log(3)");
  await field("scores[1,1]").press("Enter");
  assert.match(await puzzle.locator(".verdict").textContent(), /^Solved\./);
  await tab.reload();
  assert.match(await puzzle.locator(".verdict").textContent(), /^Solved\./, "it stays solved");
  isQuiet(said, "a puzzle by keyboard");
  await close();
});

await attempt("lesson softmax-and-scaling, changed", async () => {
  const { page: tab, said, close } = await openLesson(browser, program, "softmax-and-scaling");
  await tab.click("#all");
  // The first result with scores as its input: a number of it is changed, and the others stay.
  const { place, name, columns, rows } = await tab.evaluate(() => {
    const place = page.changes.findIndex(({ computation }) => computation.byName.get("scores")?.rows === 1);
    const { rows, columns } = page.changes[place].computation.byName.get("scores");
    return { place, name: "scores", rows, columns };
  });
  await tab.evaluate((place) => {
    for (const box of document.querySelectorAll("details")) box.open = true;
    const table = page.grids.tables.find(
      (one) => one.changes === page.changes[place] && one.node.name === "scores",
    );
    table.cells[0][0].focus();
  }, place);
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("1/2");
  await tab.keyboard.press("Enter");
  const { scores, weights, shown } = await tab.evaluate((place) => {
    const { computation, body } = page.changes[place];
    const weights = computation.byName.get("weights");
    const table = page.grids.tables.find((one) => one.changes === page.changes[place] && one.node === weights);
    return {
      scores: [...computation.byName.get("scores").cells],
      weights: [...weights.cells],
      shown: table.cells.flat().map((cell) => (cell.querySelector(".now") ?? cell).textContent),
    };
  }, place);
  assert.equal(scores[0], 0.5);
  const same = ["softmax", "--scores", scores.join(" ")];
  const { arrays } = JSON.parse(attn(program, ...same, "--format", "json"));
  arrays.weights.flat().forEach((weight, i) => {
    assert.ok(Math.abs(weight - weights[i]) < 1e-12, `weight ${i}`);
    assert.ok(Math.abs(weight - Number(shown[i])) < 1e-4, `weight ${i} as it is shown`);
  });
  const others = await tab.evaluate(
    (place) => page.changes.filter((one, i) => i !== place && one.computation.isChanged()).length,
    place,
  );
  assert.equal(others, 0, "other results stay as they were");
  isQuiet(said, `${name} ${rows} ${columns}`);
  await close();
});

await attempt("lesson 1 without scripts", async () => {
  const { page: tab, said, close } = await openLesson(browser, program, "1", { javaScriptEnabled: false });
  const text = await tab.innerText("main");
  for (const word of ["Question 1.", "After this lesson you can", "End of the lesson"])
    assert.ok(text.includes(word), word);
  assert.ok(!(await tab.isVisible("#live")));
  isQuiet(said, "a lesson without scripts");
  await close();
});

await browser.close();
const seconds = ((performance.now() - began) / 1000).toFixed(0);
for (const complaint of complaints) console.error(`✗ ${complaint}\n`);
console.log(
  `${pages.length} pages, ${explained} explanations, ${lessons.length} lessons with ${questions} questions, ` +
    `${puzzles} puzzles tried ${tries} times and ` +
    `${liveResults} live results, ${largestLesson} bytes at most, ${complaints.length} complaints, in ${seconds} s`,
);
process.exitCode = complaints.length > 0 ? 1 : 0;
