// The picture of a page in the documents. Usage: node picture.mjs PROGRAM FILE.png
import { launch, open } from "./browser.mjs";

const [program, path] = process.argv.slice(2);
const browser = await launch();
const { page: tab } = await open(browser, program, ["--example", "animal"], {
  viewport: { width: 1280, height: 1060 },
  colorScheme: "light",
});
// One weight of "it", and one step behind it.
await tab.evaluate(() => {
  const table = page.tables.find(({ node }) => node.name === "head.2.weights");
  page.steps.choose(table.table.closest("section"));
  table.cells[page.word.selectedIndex][10].focus();
  document.querySelector("#derivation .term").click();
  scrollTo(0, 0);
});
await tab.screenshot({ path });
await browser.close();
