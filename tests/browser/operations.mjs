// Every operation, as the page defines it, against the program: each cell of its result to 1e-9, and how each
// came about to the letter. Usage: attn_browser_samples | node operations.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { scriptWith } from "./script.mjs";

const { script, samples, draws } = JSON.parse(readFileSync(0, "utf8"));
const { Address, Computation, drawnNumbers, operations, numbers, textOf, erf, writtenFixed, numberTyped } = scriptWith(script);
const isSame = (a, b) => Object.is(a, b) || a === b; // 0 and −0 are the same

// Random numbers, bit for bit: each by itself, and all of a seed in whatever order.
for (const one of draws) assert.deepEqual([...drawnNumbers([one]).get(one)], one.numbers, JSON.stringify(one.drawn));
for (const { drawn } of draws) {
  const ofSeed = draws.filter((other) => other.drawn.seed === drawn.seed).reverse();
  for (const [one, cells] of drawnNumbers(ofSeed)) assert.deepEqual([...cells], one.numbers);
}
// Words that come again, and padding: drawn by their names, and in order.
for (const words of [draws.find(({ drawn }) => drawn.labels), draws.find(({ drawn, shape }) => !drawn.name && shape[1] === 5)]) {
  const again = { shape: [4, 5], drawn: { ...words.drawn, rows: [2, 0, 3, 2] } };
  const row = (i) => words.numbers.slice(5 * (i - 1), 5 * i);
  assert.deepEqual([...drawnNumbers([again]).get(again)], [...row(2), 0, 0, 0, 0, 0, ...row(3), ...row(2)]);
}

let cells = 0;
const tried = new Set(["identity"]);
for (const sample of samples) {
  const computation = new Computation(sample.computation);
  computation.compute();
  for (const node of computation.nodes) if (node.operation) tried.add(node.operation);
  // All cells at once are what they are one by one.
  for (const node of computation.nodes.filter((one) => one.operation)) {
    node.cells.forEach((cell, place) => {
      const i = Math.floor(place / node.columns);
      const one = operations[node.operation](numbers, node, i, place % node.columns);
      assert.ok(isSame(cell, one), `${sample.name}, cell ${place}: ${cell} at once, and ${one} alone`);
    });
  }
  const wrong = computation.disagreements().map((node) => node.name);
  assert.deepEqual(wrong, [], `${sample.name}: other numbers`);
  for (const { cell, subject, lines, reason } of sample.explained) {
    const [index, row, column] = cell;
    const style = { scope: "", precision: 4 };
    const told = computation.derivation(computation.nodes[index], row, column, style);
    assert.equal(told.subject, subject);
    assert.deepEqual(
      told.steps.map(({ pieces, isRounded }) => `${isRounded ? "≈" : "="} ${textOf(pieces)}`),
      lines,
      `${sample.name}: ${subject}`,
    );
    assert.equal(told.reason, reason, `${sample.name}: ${subject}`);
    ++cells;
  }
}
assert.deepEqual(
  [...tried].sort(),
  Object.keys(operations).sort(),
  "an operation of the page was not compared",
);
assert.ok(cells > 1000);

// A change with which a number is beyond double precision is not made, whether a reader or an address asks for it; any
// other is.
let refusals = 0;
for (const { name, computation: data } of samples) {
  const computation = new Computation(data);
  computation.compute();
  if (computation.overflow()) continue;
  const cells = () => computation.nodes.map((node) => [...node.cells]);
  for (const node of computation.nodes.filter((one) => !one.operation && one.name && !one.content)) {
    const before = cells();
    const complaint = computation.attempt(() => computation.change(node, 0, 0, 1e308));
    const asked = `${node.name}[1,1]=1e+308`;
    assert.equal(computation.overflow(), undefined, `${name}: ${asked}`);
    if (complaint) {
      ++refusals;
      assert.deepEqual(cells(), before, `${name}: ${complaint}`);
      assert.equal(computation.isChanged(), false);
      assert.match(complaint, /^makes .+\[\d+,\d+\] (NaN|−?∞), which is beyond double precision$/);
    } else {
      assert.equal(node.cells[0], 1e308);
      computation.reset();
    }
    const others = computation.nodes.find((one) => one !== node && !one.operation && one.name && !one.content);
    const text = `set=${asked}` + (others ? `&set=${others.name}[1,1]=0.5` : "") + "&set=nowhere[1,1]=1&word=2";
    const read = new Address(computation, {}).read(text.replaceAll("+", "%2B"));
    assert.equal(computation.overflow(), undefined, `${name}: ${text}`);
    assert.deepEqual(read.refused, ["nowhere[1,1]=1"]);
    assert.deepEqual(read.choices, { word: "2" });
    if (!others) assert.deepEqual(read.excessive, complaint ? [asked] : []);
    assert.equal(read.excessive.includes(asked), !computation.isChangedAt(node, 0, 0));
    computation.reset();
  }
  for (const value of [NaN, Infinity, -Infinity])
    for (const node of computation.nodes.filter((one) => !one.operation)) assert.notEqual(computation.refusal(node, value), "");
}
assert.ok(refusals > 50, `${refusals} changes were refused`);

// What JavaScript does not have, against tables of Abramowitz and Stegun, and at the edges.
for (const [x, y] of [
  [0, 0],
  [0.5, 0.5204998778130465],
  [1, 0.8427007929497149],
  [2, 0.9953222650189527],
  [2.5, 0.999593047982555],
  [3.5, 0.9999992569016276],
  [7, 1],
  [-1, -0.8427007929497149],
])
  assert.ok(Math.abs(erf(x) - y) < 4e-16, `erf(${x}) is ${erf(x)}`);
assert.equal(writtenFixed(0.125, 2), "0.13");
assert.equal(writtenFixed(-0.00001, 4), "0.0000");
for (const [typed, number] of [
  ["1,5", 1.5],
  [" −2 ", -2],
  ["1e-3", 0.001],
  [".5", 0.5],
  ["", NaN],
  ["1.2.3", NaN],
  ["four", NaN],
])
  assert.deepEqual(numberTyped(typed), number, typed);

console.log(
  `${tried.size} operations, ${cells} explanations, ${draws.length} matrices drawn: the page computes and says the same as attn`,
);
