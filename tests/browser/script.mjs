// The script of the page without the page: its files, as CMakeLists.txt puts them together.
import { readFileSync } from "node:fs";

const folder = new URL("../../src/school/browser/", import.meta.url);
const parts = ["numbers", "random", "computation", "address", "answers"];
const names = ["Address", "Computation", "drawnNumbers", "numbers", "operations", "textOf", "erf", "writtenFixed", "numberTyped", "constantsTyped", "functionsTyped", "judge"];

const table = readFileSync(new URL("../tutor/judge.json", folder), "utf8");
const source = parts.map((part) => readFileSync(new URL(`${part}.js`, folder), "utf8")).join("");

// With the operations that attn writes into its pages; without them, no cell can be worked out.
export const scriptWith = (operations) =>
  new Function(`const judgeTable = ${table};\n${source}\n${operations}\nreturn { ${names.join(", ")} };`)();
export const script = scriptWith("const operations = {};");
