// The three bands of a page, in headless Chromium, as a reader uses them by mouse and by keyboard: whatever is changed,
// the page has the numbers that attn computes from the same change.
// Usage: node bands.mjs PROGRAM [WORD]   those whose title has the word
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attn, change, checkSame, choose, folder, isInSample, launch, numbersOf, open } from "./browser.mjs";

const program = process.argv[2];
const browser = await launch();
const complaints = [];
let compared = 0;
async function attempt(what, words, act, options = {}) {
  if (!what.includes(process.argv[3] ?? "") || !isInSample()) return;
  try {
    const { page: tab, said, close } = await open(browser, program, words, options);
    await act(tab);
    assert.deepEqual(said, [], "what the console says");
    await close();
  } catch (error) {
    complaints.push(`${what}\n${error.message}`);
  }
}
const same = async (tab, words, where) => (compared += await checkSame(program, tab, words, where));
const textOf = (tab, selector) => tab.textContent(selector);
const shown = (tab) => tab.evaluate(() => page.node.name);
const wordsOf = (line) => execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" }).split("\0").slice(0, -1);

// --- the sentence

await attempt("lines follow the word that is pointed at", ["--example", "animal"], async (tab) => {
  const lines = () => tab.evaluate(() => [...document.querySelectorAll(".line")].map((line) => line.getAttribute("stroke-width")));
  const before = await lines();
  assert.equal(before.length, 11, "a line for each key with at least half a percent");
  await tab.hover("#sentence .words:first-child .word:nth-child(1)");
  assert.notDeepEqual(await lines(), before);
  await tab.hover("#top");
  assert.deepEqual(await lines(), before);
  await tab.focus("#sentence .words:first-child .word:nth-child(3) input");
  assert.match(await textOf(tab, "#question"), /didn't/);
  await tab.check("#show-lines input");
  assert.ok((await lines()).length > 11, "lines of all words");
  await tab.click(".map >> nth=0");
  assert.equal(await tab.inputValue("#choose-head select"), "1");
  assert.equal(await shown(tab), "head.1.weights");
});

await attempt("another word of a vocabulary", ["transformer", "--model", "coreference"], async (tab) => {
  const field = tab.locator("#sentence .words:first-child .word:nth-child(2) input");
  await field.fill("rabbit");
  await field.press("Enter");
  assert.match(await textOf(tab, "#answer"), /“rabbit”/);
  const said = "The rabbit didn't cross the street because it was too tired";
  await same(tab, ["transformer", "--model", "coreference", "--source", said], "rabbit");
  await field.fill("zebra");
  await field.press("Enter");
  assert.match(await textOf(tab, "#changed"), /“zebra” is not in the vocabulary of this model\./);
  assert.equal(await field.inputValue(), "rabbit");
  await tab.click("#undo");
  await same(tab, ["transformer", "--model", "coreference"], "undone");
});

await attempt("another name of a word changes no number", ["--example", "animal"], async (tab) => {
  const before = await numbersOf(tab);
  const field = tab.locator("#sentence .words:first-child .word:nth-child(2) input");
  await field.fill("rabbit");
  await field.press("Enter");
  assert.match(await textOf(tab, "#changed"), /“rabbit” is a name here: the numbers of its row stay\./);
  assert.deepEqual(await numbersOf(tab), before);
  const rows = await tab.evaluate(() => page.matrices.result.heads.rows.map((head) => head.textContent));
  assert.equal(rows[1], "rabbit");
});

// --- the flow

await attempt("the flow leads from box to box", ["--example", "animal"], async (tab) => {
  assert.equal(await shown(tab), "head.2.weights");
  await tab.click("#previous");
  assert.equal(await shown(tab), "head.2.scaled");
  await tab.click("#next");
  await tab.click("#next");
  assert.equal(await shown(tab), "head.2.output");
  await tab.click('.box[title="q"]');
  assert.equal(await shown(tab), "q");
  assert.ok(await tab.isVisible('#matrices table[data-matrix="w_q"]'), "the operands are beside it");
  await tab.click("#play");
  await tab.waitForFunction(() => page.node.name !== "q");
  await tab.click("#play");
  const stopped = await shown(tab);
  await tab.waitForTimeout(1600);
  assert.equal(await shown(tab), stopped, "it stops");
});

await attempt("strips travel, unless motion is to be reduced", ["--example", "animal"], async (tab) => {
  const flying = () => tab.evaluate(() => {
    page.chooseNode(page.computation.byName.get("head.2.output"));
    return document.querySelectorAll(".flying").length;
  });
  assert.equal(await flying(), 2);
  await tab.emulateMedia({ reducedMotion: "reduce" });
  await tab.evaluate(() => page.chooseNode(page.computation.byName.get("head.2.weights")));
  await tab.waitForTimeout(600);
  assert.equal(await flying(), 0);
});

await attempt("parts of a model", ["transformer"], async (tab) => {
  const chips = await tab.locator(".chip").allTextContents();
  assert.deepEqual(chips, ["source", "encoder.1", "encoder.2", "target", "decoder.1", "decoder.2", "transformer"]);
  await tab.click(".chip >> nth=4");
  assert.match(await shown(tab), /^decoder\.1\./);
  const head = await tab.inputValue("#choose-head select"); // of all heads the chosen one has boxes
  await tab.click(`.box[title$="cross_attention.head.${head}.weights"]`);
  assert.equal(await tab.inputValue("#choose-attention select"), "decoder.1.cross_attention.");
});

// --- the matrices

await attempt("a product stands as it is computed", ["walk"], async (tab) => {
  await tab.evaluate(() => page.chooseNode(page.computation.byName.get("scores")));
  const box = async (selector) => (await tab.locator(selector).boundingBox());
  const [q, k, scores] = [await box(".left"), await box(".above"), await box(".meets")];
  assert.ok(q.x < scores.x && k.y < scores.y && Math.abs(q.y - scores.y) < 2 && Math.abs(k.x - scores.x) < 2);
  await tab.locator('#matrices table[data-matrix="k"] td.lit').first().focus();
  const at = () => tab.evaluate(() => page.grids.cellAt(document.activeElement));
  const { row, column } = await at();
  await tab.keyboard.press("ArrowDown");
  const below = await at();
  assert.deepEqual([below.row, below.column], [row, column + 1], "a turned table: down is the next column of k");
});

await attempt("what moved stands beside what was", ["--example", "animal"], async (tab) => {
  await change(tab, "x", 7, 2, "5");
  const [, count] = /^\d+ numbers followed, in (\d+) matrices$/.exec(await textOf(tab, "#moved"));
  const seen = new Set();
  for (let i = 0; i < count; ++i) {
    await tab.click("#next-moved");
    seen.add(await shown(tab));
    assert.ok(await tab.isVisible("td.moved:focus"), "the number that moved most has the focus");
  }
  assert.equal(seen.size, Number(count));
  const old = await tab.evaluate(() => {
    page.grids.goTo({ node: page.computation.byName.get("x"), row: 7, column: 2 });
    return page.grids.tableOf(page.computation.byName.get("x")).cells[7][2].textContent;
  });
  assert.match(old, /^was 15▲$/);
  await tab.click("#more summary");
  await tab.check("#compare");
  await tab.evaluate(() => page.chooseNode(page.computation.byName.get("head.2.weights")));
  const titles = await tab.locator(".meets caption").allTextContents();
  assert.deepEqual(titles.map((title) => title.replace(/ *\d+ × \d+.*/, "")), ["before", "head.2.weights", "now − before"]);
  await tab.click("#keep");
  assert.ok(!(await tab.isVisible("#followed")), "nothing has moved since");
});

await attempt("undo and redo", ["walk"], async (tab) => {
  await change(tab, "x", 0, 0, "5");
  await change(tab, "w_q", 1, 1, "-3");
  const both = await numbersOf(tab);
  await tab.click("#undo");
  const line = ["what-if", "walk", "--set", "x[1,1]=5"];
  await same(tab, line, "one of two is undone");
  await tab.click("#redo");
  assert.deepEqual(await numbersOf(tab), both);
  await tab.evaluate(() => document.activeElement.blur());
  await tab.keyboard.press("Control+z");
  await tab.keyboard.press("Control+z");
  await same(tab, ["walk"], "both are undone");
  assert.ok(await tab.isDisabled("#undo"));
  await tab.keyboard.press("Control+y");
  await same(tab, line, "made again");
  await tab.click("#reset");
  await tab.click("#undo");
  await same(tab, line, "that all changes are undone can be undone");
});

await attempt("the divisor of the scores", ["--example", "animal"], async (tab) => {
  const slider = tab.locator("#divisor input");
  await slider.fill("0.75");
  const divisor = await textOf(tab, "#divisor output");
  assert.notEqual(divisor, "√4");
  await same(tab, ["walk", "--example", "animal", "--scale", divisor], "divisor");
  await choose(tab, { name: "head.1.scaled", row: 7, column: 1 });
  assert.match(await textOf(tab, "#derivation"), new RegExp(`/ ${divisor.replace(".", "\\.")}`));
  await tab.click("#undo");
  assert.equal(await textOf(tab, "#divisor output"), "√4");
  await same(tab, ["walk", "--example", "animal"], "as it was");
});

await attempt("a slider for an input", ["walk"], async (tab) => {
  await choose(tab, { name: "x", row: 0, column: 1 });
  const slider = tab.locator("#derivation .slider input");
  await slider.focus();
  for (let i = 0; i < 5; ++i) await tab.keyboard.press("ArrowRight");
  const value = await tab.evaluate(() => page.computation.byName.get("x").cells[1]);
  assert.notEqual(value, 0);
  await same(tab, ["what-if", "walk", "--set", `x[1,2]=${value}`], "slid");
  await tab.click("#undo");
  await same(tab, ["walk"], "one gesture is undone as one change");
});

await attempt("numbers are covered until they are guessed", ["walk"], async (tab) => {
  await tab.evaluate(() => page.chooseNode(page.computation.byName.get("scores")));
  await tab.click("#more summary");
  await tab.check("#cover");
  const cell = tab.locator('#matrices table[data-matrix="scores"] tbody tr:first-child td').first();
  assert.equal(await cell.textContent(), "?covered");
  await cell.click();
  assert.ok(!(await textOf(tab, "#derivation")).includes("112"), "the explanation does not tell it");
  await tab.keyboard.press("1");
  await tab.keyboard.press("Enter");
  assert.match(await textOf(tab, "#changed"), /scores\[1,1\] is not 1\./);
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("112");
  await tab.keyboard.press("Enter");
  assert.match(await textOf(tab, "#changed"), /Right: scores\[1,1\] is 112\./);
  assert.equal(await cell.textContent(), "112");
});

// --- the address, and the command

await attempt("an address keeps what was chosen and changed", ["--example", "animal", "--causal"], async (tab) => {
  await change(tab, "x", 7, 2, "5");
  await tab.check("#parts input[value=mask]");
  await tab.selectOption("#choose-head select", "1");
  await tab.selectOption("#choose-word select", { index: 4 });
  const state = () => tab.evaluate(() => [page.head.value, page.word.selectedIndex, page.node.name, location.hash]);
  const [before, numbers] = [await state(), await numbersOf(tab)];
  await tab.reload();
  assert.deepEqual(await state(), before);
  assert.deepEqual(await numbersOf(tab), numbers);
  await tab.click("#more summary");
  await tab.click("#command");
  const line = await tab.evaluate(() => page.address.command());
  await same(tab, wordsOf(line).slice(1), line);
});

await attempt("an address of a stranger", ["walk"], async (tab) => {
  const hostile = "set=x[9,9]=1&set=weights[1,1]=3&set=x[1,1]=<b>&without=<img src=x>&divisor=-1&name=0,99,x&at=nothing&word=77&head=__proto__";
  await tab.evaluate((hash) => (location.hash = hash), hostile);
  await tab.waitForFunction(() => document.getElementById("changed").textContent !== "");
  await same(tab, ["walk"], "nothing has changed");
  assert.equal(await tab.locator("main img, main b").count(), 0);
});

await attempt("a command with another word", ["transformer", "--model", "copy"], async (tab) => {
  const field = tab.locator("#sentence .words:last-child .word:nth-child(2) .name");
  await tab.selectOption("#choose-attention select", "encoder.1.self_attention.");
  await tab.evaluate(() => {
    const ids = page.computation.byName.get("source.ids");
    page.changes.set({ node: ids, row: 1, column: 0 }, ids.cells[0]);
  });
  assert.ok(await field.isVisible());
  const line = await tab.evaluate(() => page.address.command());
  await same(tab, wordsOf(line).slice(1), line);
});

// --- next words, training, gradients

await attempt("the next words of a model", ["generate", "--model", "course", "--text", "The"], async (tab) => {
  await tab.selectOption("#choose-word select", { index: 2 });
  const bars = () => tab.locator("#next-words .bar").allTextContents();
  const most = await bars();
  assert.match(await textOf(tab, "#next-words .title"), /Next word after “e”/);
  await tab.locator("#next-words input").first().fill("3");
  assert.notDeepEqual(await bars(), most, "a temperature of 3");
  await tab.locator("#next-words input").first().fill("1");
  await tab.locator("#next-words input").nth(1).fill("1");
  assert.equal((await bars()).length, 1);
  assert.match((await bars())[0], /100\.0 %$/, "the only word of top 1");
  await tab.locator("#next-words input").nth(1).fill("0");
  const written = () => tab.evaluate(() => [...page.nodes[page.data.predictions[0].ids].cells]);
  const before = await written();
  await tab.click("#next-words .rest");
  assert.deepEqual(await written(), before, "the model wrote the most probable words");
  await tab.locator('#next-words .bar[aria-pressed="false"]').first().click();
  const other = await written();
  assert.equal(other.filter((id, i) => id !== before[i]).length, 1);
  await tab.click("#next-words .rest");
  assert.equal(await tab.locator("#sentence .words:first-child .written").count(), before.length - 3);
  await tab.click("#undo");
  assert.deepEqual(await written(), other, "all that was written is undone at once");
});

await attempt("a training step by step", ["train", "reverse", "--steps", "60", "--seed", "2"], async (tab) => {
  const pixels = () => tab.evaluate(() => document.querySelector(".map canvas").toDataURL());
  const last = await pixels();
  assert.match(await textOf(tab, "#training .title"), /^Maps after step 60 of 60; loss \d/);
  await tab.locator("#training input").fill("0");
  assert.match(await textOf(tab, "#training .title"), /^Maps after step 0 of 60/);
  assert.notEqual(await pixels(), last);
  await tab.click("#training button");
  await tab.waitForFunction(() => document.querySelector("#training .title").textContent.startsWith("Maps after step 60"), null, { timeout: 20000 });
  assert.equal(await pixels(), last);
});

await attempt("gradients follow a change", ["backward"], async (tab) => {
  const chips = await tab.locator(".chip").allTextContents();
  assert.deepEqual(chips, ["backward", "gradients of backward"]);
  await tab.click(".chip >> nth=1");
  assert.match(await shown(tab), /^d_/);
  const { problem } = JSON.parse(attn(program, "backward", "--format", "json"));
  problem.x[0][0] = 2;
  const path = join(folder, "changed.json");
  writeFileSync(path, JSON.stringify(problem));
  await change(tab, "x", 0, 0, "2");
  await same(tab, ["backward", "--problem", path], "gradients");
  assert.equal(await tab.evaluate(() => page.address.command()), undefined, "no line makes this change");
  await tab.click("#undo");
  await tab.locator("#divisor input").fill("0.7");
  await same(tab, ["backward", "--scale", await textOf(tab, "#divisor output")], "gradients through another divisor");
});

// --- what goes wrong

await attempt("the text of all steps has the numbers of now", ["transformer", "--model", "coreference"], async (tab) => {
  await tab.evaluate(() => {
    const ids = page.computation.byName.get("source.ids");
    page.setWord(ids.rowAxis, ids, 1, "rabbit");
  });
  await tab.click("#all-steps");
  await tab.locator("#contents a").last().click();
  assert.deepEqual(await tab.evaluate(() => [scrollY, document.querySelector("main").scrollTop]), [0, 0], "the bands stay");
  const stale = await tab.evaluate(() =>
    page.text.tables.filter(({ node, heads, table }) => {
      const word = heads.rows[1]?.textContent;
      const now = page.grids.byElement.get(table).cells[1]?.[0];
      const shown = (now?.querySelector(".now") ?? now)?.textContent;
      const value = node.rows > 1 && node.cells[node.columns];
      const isNumber = shown && !Number.isNaN(Number(shown));
      return word === "animal" && node.rowAxis.labels?.[1] === "rabbit" || (isNumber && Math.abs(Number(shown) - value) > 0.51);
    }).length,
  );
  assert.equal(stale, 0);
});

await attempt("numbers that overflow", ["walk"], async (tab) => {
  const cells = () => tab.evaluate(() => page.nodes.map((node) => [...node.cells]));
  const before = await cells();
  for (const number of ["1e308", "-1e308"]) {
    await change(tab, "x", 0, 0, number);
    assert.match(await textOf(tab, "#changed"), /Nothing was changed: this change makes .* beyond double precision/);
    assert.deepEqual(await cells(), before);
  }
});

await attempt("a number of a large matrix", ["--example", "eight-heads"], async (tab) => {
  await tab.evaluate(() => page.chooseNode(page.computation.byName.get("w_q")));
  await tab.click(".picture button");
  await tab.click("#derivation .edit");
  await tab.keyboard.press("Control+a");
  await tab.keyboard.type("3");
  await tab.keyboard.press("Enter");
  const line = await tab.evaluate(() => page.address.command());
  assert.match(line, /w_q\[1,1\]=3/);
  await same(tab, wordsOf(line).slice(1), line);
});

for (const size of [{ width: 1280, height: 620 }, { width: 1024, height: 768 }])
  await attempt(`a window of ${size.width} × ${size.height}`, ["decoder"], async (tab) => {
    const height = (selector) => tab.evaluate((one) => document.querySelector(one).clientHeight, selector);
    assert.ok((await height("#matrices-band")) > 200);
    assert.ok((await height("#flow-band")) > 100);
    await tab.click("#more summary");
    const menu = await tab.locator(".menu").boundingBox();
    assert.ok(menu.x >= 0 && menu.x + menu.width <= size.width, "the menu is within the window");
  }, { viewport: size });

// --- a hundred changes, by keyboard and by mouse

const pages = [
  ["walk"],
  ["walk", "--example", "animal"],
  ["walk", "--text", "the dog saw the cat", "--heads", "2", "--d-model", "8", "--positions", "sinusoidal", "--causal"],
  ["transformer", "--kind", "encoder-only"],
  ["encoder", "--x", "1 2 3 4; 0 1 0 1; 2 0 1 1", "--heads", "2"],
];
const changesOfPage = 20;
for (const words of pages)
  await attempt(`${words.join(" ")}, changed ${changesOfPage} times`, words, async (tab) => {
    let seed = 11;
    const drawn = (count) => (seed = (seed * 48271) % 2147483647) % count;
    const inputs = await tab.evaluate(() =>
      page.nodes
        .filter((node) => node.name && !node.operation && node.content === undefined && node.cells.length <= 2500)
        .map(({ name, rows, columns }) => ({ name, rows, columns })),
    );
    for (let i = 0; i < changesOfPage; ++i) {
      const { name, rows, columns } = inputs[drawn(inputs.length)];
      const [row, column] = [drawn(rows), drawn(columns)];
      const text = ["5", "-2.5", "0.125", "1/3", "7e-2", "0"][drawn(6)];
      if (i % 2 === 0) {
        await change(tab, name, row, column, text);
      } else {
        await choose(tab, { name, row, column });
        const cell = tab.locator(`#matrices table[data-matrix="${name}"]`).first();
        await cell.evaluate((table, [i, j]) => table.tBodies[0].rows[i].querySelectorAll("td")[j].scrollIntoView(), [row, column]);
        await tab.evaluate(([name, row, column]) => {
          const table = page.grids.tableOf(page.computation.byName.get(name));
          table.cells[row][column].dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
        }, [name, row, column]);
        await tab.keyboard.press("Control+a");
        await tab.keyboard.type(text);
        await tab.keyboard.press("Tab");
      }
    }
    const line = await tab.evaluate(() => page.address.command());
    await same(tab, wordsOf(line).slice(1), line);
    for (let i = 0; i < changesOfPage; ++i) if (await tab.isEnabled("#undo")) await tab.click("#undo");
    await same(tab, words, `${words.join(" ")}, all undone one by one`);
  });

await browser.close();
for (const complaint of complaints) console.error(`✗ ${complaint}\n`);
console.log(`${compared.toLocaleString("en")} numbers compared, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;
