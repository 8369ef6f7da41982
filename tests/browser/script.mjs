// The script of the page without the page: its files, as CMakeLists.txt puts them together.
import { readFileSync } from "node:fs";

const folder = new URL("../../src/school/browser/", import.meta.url);
const parts = ["numbers", "operations", "computation", "answers"];
const names = ["Computation", "operations", "textOf", "erf", "writtenFixed", "numberTyped", "constantsTyped", "functionsTyped", "judge"];

const source = parts.map((part) => readFileSync(new URL(`${part}.js`, folder), "utf8")).join("");

export const script = new Function(`${source}\nreturn { ${names.join(", ")} };`)();
