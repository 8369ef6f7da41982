// Answers to questions of lessons, as the page judges them, against the program: the verdict, and what is said.
// Usage: attn_browser_answers LESSON… | node answers.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { script } from "./script.mjs";

const { constantsTyped, functionsTyped, judge } = script;
const { functions, constants, questions } = JSON.parse(readFileSync(0, "utf8"));

assert.deepEqual(Object.keys(functionsTyped).sort(), functions.sort());
assert.deepEqual(Object.keys(constantsTyped).sort(), constants.sort());

const counts = { right: 0, wrong: 0, convention: 0, unreadable: 0, guess: 0 };
let alike = 0;
for (const { ask, question, others, judged } of questions) {
  // Rows of a batch can have the same labels, and so the same sentence.
  const countIn = (sentences, says) => sentences.filter((one) => one === says).length;
  const shown = question.recognised.map((row) => row.says);
  const leftOut = new Set(others.filter((says) => countIn(others, says) > countIn(shown, says)));
  for (const { typed, mark, says } of judged) {
    const found = judge(question, typed);
    const where = `${ask} — “${typed}”`;
    assert.equal(found.mark, mark, where);
    ++counts[mark];
    if (leftOut.has(says)) {
      assert.ok(found.says !== "", where);
      continue;
    }
    assert.equal(found.says, says, where);
    ++alike;
  }
}
for (const [mark, count] of Object.entries(counts)) {
  if (mark !== "convention" && mark !== "guess") assert.ok(count > 20, `${count} answers are ${mark}`);
}
assert.ok(alike > 1000);
console.log(
  `${questions.length} questions, ${JSON.stringify(counts)}: the page judges as attn does, and says the same to ${alike}`,
);
