// The pictures of pages in the documents. Usage: node picture.mjs PROGRAM FOLDER
import { join } from "node:path";
import { change, launch, open } from "./browser.mjs";

const [program, folder] = process.argv.slice(2);
const browser = await launch();

async function picture(name, words, act) {
  const options = { viewport: { width: 1280, height: 900 }, colorScheme: "light", reducedMotion: "reduce" };
  const { page: tab, close } = await open(browser, program, words, options);
  await act(tab);
  await tab.screenshot({ path: join(folder, name) });
  await close();
}

// What follows when a number of "it" is changed.
await picture("page.png", ["--example", "animal"], async (tab) => {
  await change(tab, "x", 7, 2, "1.5");
  await tab.evaluate(() => page.chooseNode(page.computation.byName.get("head.1.weights")));
});
// What may follow a text, and where a head looks for it.
await picture("next-words.png", ["generate", "--model", "course", "--text", "The query"], async (tab) => {
  await tab.selectOption("#choose-word select", { index: 8 });
});
await browser.close();
