// How large pages for browsers are, and how long it takes until one can be used: until its script has computed all
// numbers, compared them, and made its tables. Medians of some openings, as a table of Markdown.
// Usage: node measure.mjs PROGRAM [OPENINGS]
import { statSync } from "node:fs";
import { launch, open } from "./browser.mjs";

const [program, openings = "5"] = process.argv.slice(2);
const sentence = ["--text", "the cat sat on the mat because it was tired"];

const pages = [
  ["walk"],
  ["walk", "--example", "animal"],
  ["walk", ...sentence, "--heads", "8", "--d-model", "64"],
  ["walk", ...sentence, "--heads", "8", "--d-model", "512"],
  ["encoder"],
  ["transformer"],
  ["transformer", "--model", "copy"],
  ["align"],
  ["backward", "--example", "animal"],
  ["generate", "--model", "names", "--target", "m"],
  ["positions"],
  ["train", "induction"],
];

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const browser = await launch();
console.log("| page | KB | numbers | ready, ms | computing, ms |\n| :--- | ---: | ---: | ---: | ---: |");
for (const words of pages) {
  const times = [];
  const computing = [];
  let size, numbers;
  try {
    for (let i = 0; i < Number(openings); ++i) {
      const { page: tab, path, close } = await open(browser, program, words);
      ({ size } = statSync(path));
      times.push(await tab.evaluate(() => performance.now()));
      numbers = await tab.evaluate(() => page.nodes.reduce((sum, node) => sum + node.cells.length, 0));
      computing.push(
        await tab.evaluate(() => {
          const start = performance.now();
          new Computation(page.data.computation).compute();
          return performance.now() - start;
        }),
      );
      await close();
    }
  } catch (error) {
    console.log(`| \`attn page ${words.join(" ")}\` | ${error.message.split("\n")[0]} |`);
    continue;
  }
  const line = [`\`attn page ${words.join(" ")}\``, Math.round(size / 1000), numbers.toLocaleString("en")];
  console.log(`| ${[...line, Math.round(median(times)), Math.round(median(computing))].join(" | ")} |`);
}
await browser.close();
