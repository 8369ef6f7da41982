"use strict";

// How numbers and lists of words are written, and the functions that JavaScript does not have. The rules are those
// of src/core/support/number.cpp and src/page/render/derivation_steps.cpp, so that the page writes what attn prints.

const tieTolerance = 5e-13; // so far below a tie a number counts as the tie: 0.125 is 0.13 everywhere
const largestExact = 1e11;

// With a fixed number of decimals: "-0.8808", and never "-0.0000".
function writtenFixed(value, decimals) {
  const magnitude = Math.abs(value) * 10 ** decimals;
  if (!(magnitude < largestExact)) return value.toFixed(decimals);
  const digits = String(Math.floor(magnitude + magnitude * tieTolerance + 0.5)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const sign = value < 0 && Number(digits) !== 0 ? "-" : "";
  return sign + whole + (decimals > 0 ? "." + digits.slice(digits.length - decimals) : "");
}

// "1.50e+08"
function writtenScientific(value, decimals) {
  return value.toExponential(decimals).replace(/e([+-])(\d)$/, "e$10$2");
}

// The fewest digits that read back as the same number: "10000", "1e-05".
function writtenShortest(value) {
  if (!Number.isFinite(value)) return numeral(value, 0).text;
  const magnitude = Math.abs(value);
  const hasPower = magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  return hasPower ? value.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(value);
}

// Whether so many decimals show the value exactly, to twelve digits.
function isExact(value, decimals) {
  if (!Number.isFinite(value)) return true;
  const magnitude = Math.abs(value) * 10 ** decimals;
  const tolerance = magnitude < largestExact ? magnitude * tieTolerance : 0;
  return Math.abs(magnitude - Math.round(magnitude)) <= tolerance;
}

// The fewest decimals, at most `most`, that show all values exactly.
function decimalsFor(values, most) {
  let decimals = 0;
  for (const value of values) {
    while (decimals < most && !isExact(value, decimals)) ++decimals;
    if (decimals === most) break;
  }
  return decimals;
}

// A number within a derivation, and whether it is exact as written: trailing zeros are left out.
function numeral(value, precision) {
  if (Number.isNaN(value)) return { text: "NaN", isExact: true };
  if (!Number.isFinite(value)) return { text: value < 0 ? "−∞" : "∞", isExact: true };
  const magnitude = Math.abs(value);
  const isTiny = magnitude !== 0 && magnitude < 0.5 * 10 ** -precision;
  const isScientific = isTiny || magnitude >= 1e12;
  let digits;
  if (isScientific) {
    digits = writtenScientific(magnitude, 2);
  } else {
    digits = writtenFixed(magnitude, precision);
    if (digits.includes(".")) digits = digits.replace(/\.?0+$/, "");
  }
  return {
    text: (value < 0 && digits !== "0" ? "-" : "") + digits,
    isExact: isScientific ? Number(digits) === magnitude : isExact(value, precision),
  };
}

const range = (count) => Array.from({ length: count }, (_, i) => i);

// "a, b and c"
const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

// 2/√π ∫₀ˣ exp(−t²) dt, to the last digits of a double: its series near 0, and for larger x the continued
// fraction of 1 − erf(x).  (Abramowitz and Stegun 1964, 7.1.6 and 7.1.14)
function erf(x) {
  if (Number.isNaN(x)) return x;
  if (x < 0) return -erf(-x);
  if (x > 6) return 1;
  if (x < 2.5) {
    let term = x;
    let total = x;
    for (let n = 1; Math.abs(term) > 1e-17 * total; ++n) {
      term *= (2 * x * x) / (2 * n + 1);
      total += term;
    }
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  let rest = x;
  for (let n = 60; n > 0; --n) rest = x + n / 2 / rest;
  return 1 - Math.exp(-x * x) / (Math.sqrt(Math.PI) * rest);
}

// What a reader types as a number, read as the program reads it (src/core/term/quantity.cpp, where there is no
// computation; src/school/tutor/typed_answer.cpp for decimal commas).

const constantsTyped = { e: Math.E };

const functionsTyped = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  log: Math.log,
  ln: Math.log,
  sin: Math.sin,
  cos: Math.cos,
  tanh: Math.tanh,
  abs: Math.abs,
};

// Something that was typed can be read in two ways.
class Ambiguous extends Error {
  constructor(ways) {
    super();
    this.ways = ways;
  }
}

// "0,88" has a decimal comma, "2,099,712" and "1,024.5" have commas between thousands, and "1,024" is ambiguous.
// Other commas stay, and then it is no number.
function withDecimalPoint(number) {
  const groups = number.split(".")[0].split(",").filter((group) => group !== "");
  const isThousand = (group) => group.length === 3;
  const isByThousands =
    groups.length > 1 && groups[0].length <= 3 && groups[0] !== "0" && groups.slice(1).every(isThousand);
  const plain = number.replaceAll(",", "");
  if (groups.length !== 2 || number.includes(".")) return isByThousands ? plain : number;
  const point = number.replaceAll(",", ".");
  if (isByThousands) throw new Ambiguous({ number, plain, point });
  return point;
}

const withDecimalPoints = (typed) => typed.replace(/[0-9.,]+/g, withDecimalPoint);

// Works out an expression of numbers: + - * / ^, powers such as e², parentheses, functions, per cent. NaN where
// it is none.
class NumberReader {
  constructor(expression) {
    this.rest = expression;
    this.depth = 0;
  }

  static unread = new Error("no number");

  read() {
    const value = this.sum();
    this.skip();
    if (this.rest !== "") throw NumberReader.unread;
    return value;
  }

  skip() {
    this.rest = this.rest.replace(/^[ \t]+/, "");
  }

  // What matches comes next and is taken: the match; undefined: it does not.
  take(pattern) {
    this.skip();
    const match = pattern.exec(this.rest);
    if (!match) return undefined;
    this.rest = this.rest.slice(match[0].length);
    return match[0];
  }

  sum() {
    let total = this.product();
    for (;;) {
      if (this.take(/^\+/)) total += this.product();
      else if (this.take(/^[-−]/)) total -= this.product();
      else return total;
    }
  }

  product() {
    let total = this.signed();
    for (;;) {
      if (this.take(/^[*⋅·×]/)) total *= this.signed();
      else if (this.take(/^[/÷]/)) total /= this.signed();
      else return total;
    }
  }

  signed() {
    if (++this.depth > 100) throw NumberReader.unread;
    let value;
    if (this.take(/^[-−]/)) value = -this.signed();
    else if (this.take(/^\+/)) value = this.signed();
    else if (this.take(/^√/)) value = Math.sqrt(this.signed());
    else value = this.power();
    --this.depth;
    return value;
  }

  power() {
    const base = this.primary();
    const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    const superscript = this.take(/^⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+/);
    if (superscript) {
      const size = Number([...superscript.replace("⁻", "")].map((digit) => digits.indexOf(digit)).join(""));
      return base ** (superscript[0] === "⁻" ? -size : size);
    }
    return this.take(/^\^/) ? base ** this.signed() : base;
  }

  primary() {
    if (this.take(/^\(/)) return this.closed(this.sum());
    const name = this.take(/^[A-Za-z][A-Za-z0-9_.]*/);
    if (name === undefined) return this.number();
    if (this.take(/^\(/)) {
      if (!Object.hasOwn(functionsTyped, name)) throw NumberReader.unread;
      return this.closed(functionsTyped[name](this.sum()));
    }
    if (!Object.hasOwn(constantsTyped, name)) throw NumberReader.unread;
    return constantsTyped[name];
  }

  closed(value) {
    if (!this.take(/^\)/)) throw NumberReader.unread;
    return value;
  }

  number() {
    const written = this.take(/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i);
    if (written === undefined) throw NumberReader.unread;
    const value = Number(written);
    const isTooSmall = value === 0 && /[1-9]/.test(written.split(/e/i)[0]);
    if (!Number.isFinite(value) || isTooSmall) throw NumberReader.unread;
    return this.take(/^%/) ? value / 100 : value;
  }
}

// How many digits stand behind the point, where a number is written out: a sign, digits, perhaps a point.
function decimalsTyped(written) {
  const isPerCent = written.endsWith("%");
  const plain = (isPerCent ? written.slice(0, -1) : written).trim().replace(/^-?−?\+?/, "");
  const match = /^\d*(?:\.(\d{0,300}))?$/.exec(plain);
  if (plain === "" || !match) return undefined;
  return (match[1]?.length ?? 0) + (isPerCent ? 2 : 0);
}

// What was typed as a number, and its decimals where it is written out; null where it is none. Throws Ambiguous.
function readNumber(typed) {
  const expression = withDecimalPoints(typed.trim());
  try {
    const value = new NumberReader(expression).read();
    if (Number.isFinite(value))
      return { value, decimals: decimalsTyped(expression), isPerCent: expression.trim().endsWith("%") };
  } catch (error) {
    if (error !== NumberReader.unread) throw error;
  }
  return null;
}

// The same as a number; NaN where it is none, or could be two.
function numberTyped(text) {
  try {
    return readNumber(text)?.value ?? NaN;
  } catch (error) {
    if (error instanceof Ambiguous) return NaN;
    throw error;
  }
}

// How one cell is made, as an expression over other cells. An operation says it once, with the functions of `make`:
// attn writes `operations` into the page, from the texts of src/core/op/. There are two of `make`: `numbers` works the
// expression out, `trees` keeps it, to be written in symbols and numbers, and to be asked for the cells that it is made
// of.

// A function of one number, by the name that explanations write.
const functions = {
  exp: Math.exp,
  ln: Math.log,
  tanh: Math.tanh,
  erf: erf,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  ReLU: (x) => (x < 0 ? 0 : x),
  sin: Math.sin,
  cos: Math.cos,
  "√": Math.sqrt,
};

const square = (x) => x * x;

const numbers = {
  number: (value) => value,
  cell: (node, row, column) => node.cells[row * node.columns + column],
  sum(terms) {
    let total = 0;
    for (const term of terms) total += term;
    return total;
  },
  product(factors) {
    let total = 1;
    for (const factor of factors) total *= factor;
    return total;
  },
  difference: (a, b) => a - b,
  quotient: (a, b) => a / b,
  square,
  call: (name, x) => functions[name](x),
  because() {},
};

// The numbers of all cells, each from `make` by itself.
function eachCell(node, make) {
  let place = 0;
  for (let i = 0; i < node.rows; ++i) {
    for (let j = 0; j < node.columns; ++j) node.cells[place++] = make(numbers, node, i, j);
  }
}

// A tree: its kind, its value, and its parts. `because` says in a sentence what the terms do not say.
function makeTrees() {
  const branch = (kind, parts, value) => ({ kind, parts, value });
  const valuesOf = (parts) => parts.map((part) => part.value);
  return {
    reason: "",
    number: (value, notation = "") => ({ kind: "number", value, notation, parts: [] }),
    cell: (node, row, column) => ({
      kind: "cell",
      node,
      row,
      column,
      value: numbers.cell(node, row, column),
      parts: [],
    }),
    sum: (terms) => branch("sum", terms, numbers.sum(valuesOf(terms))),
    product: (factors) => branch("product", factors, numbers.product(valuesOf(factors))),
    difference: (a, b) => branch("difference", [a, b], a.value - b.value),
    quotient: (a, b) => branch("quotient", [a, b], a.value / b.value),
    square: (x) => branch("square", [x], x.value * x.value),
    call: (name, x) => ({ kind: "call", name, parts: [x], value: functions[name](x.value) }),
    because(sentence) {
      this.reason = sentence();
    },
  };
}

// The different cells of a tree, in the order in which they are first written.
function cellsOf(tree, found = new Map()) {
  if (tree.kind === "cell") {
    const key = `${tree.node.index},${tree.row},${tree.column}`;
    if (!found.has(key)) found.set(key, tree);
  }
  for (const part of tree.parts) cellsOf(part, found);
  return [...found.values()];
}

// How firmly a tree holds together: what holds less firmly than its place asks stands in parentheses.
const strengths = { sum: 1, difference: 1, product: 2, quotient: 2 };
const strength = (tree) => strengths[tree.kind] ?? 3;
const isLeaf = (tree) => tree.kind === "cell" || tree.kind === "number";

// Writes a tree as a list of pieces: text, and cells, which a page can make into buttons. `style` says how
// cells are called (`nameOf`), and how many decimals there are.
class ExpressionWriter {
  constructor(style, showsNames) {
    this.style = style;
    this.showsNames = showsNames;
    this.isExact = true;
  }

  write(tree) {
    return { pieces: this.whole(tree), isRounded: !this.isExact };
  }

  whole(tree) {
    switch (tree.kind) {
      case "number":
        return [this.showsNames && tree.notation ? tree.notation : this.numeral(tree.value)];
      case "cell":
        return [this.showsNames ? { cell: tree, text: this.style.nameOf(tree) } : this.numeral(tree.value)];
      case "sum":
        return this.joined(tree.parts, " + ", 1);
      case "product":
        return this.joined(tree.parts, "⋅", 2);
      case "difference":
        return [...this.part(tree.parts[0], 1), " − ", ...this.part(tree.parts[1], 2)];
      case "quotient":
        return [...this.part(tree.parts[0], 2), " / ", ...this.part(tree.parts[1], 3)];
      case "square":
        return [...this.part(tree.parts[0], 3), "²"];
      case "call":
        return [tree.name + "(", ...this.whole(tree.parts[0]), ")"];
    }
    return [];
  }

  numeral(value) {
    const { text, isExact } = numeral(value, this.style.precision);
    this.isExact &&= isExact;
    return text;
  }

  // Negative numbers stand in parentheses inside sums and products.
  part(tree, outer) {
    const pieces = this.whole(tree);
    const isNegative = isLeaf(tree) && /^[−-]/.test(textOf(pieces));
    return strength(tree) >= outer && !isNegative ? pieces : ["(", ...pieces, ")"];
  }

  joined(parts, sign, outer) {
    return parts.flatMap((one, i) => (i > 0 ? [sign, ...this.part(one, outer)] : this.part(one, outer)));
  }
}

const textOf = (pieces) => pieces.map((piece) => piece.text ?? piece).join("");

// A sum of more terms than this is shortened: to so many of them, the largest by magnitude, in their order. Behind
// them stands what all others add up to.
const longestSum = 32;
const termsOfLongSum = 8;

const isLongSum = (tree) => tree.kind === "sum" && tree.parts.length > longestSum;
const hasLongSum = (tree) => isLongSum(tree) || tree.parts.some(hasLongSum);

function withShortSums(tree) {
  if (!isLongSum(tree)) return tree.parts.length > 0 ? { ...tree, parts: tree.parts.map(withShortSums) } : tree;
  const sizeOf = (i) => (Number.isNaN(tree.parts[i].value) ? Infinity : Math.abs(tree.parts[i].value));
  const order = tree.parts.map((_, i) => i).sort((i, j) => (sizeOf(i) === sizeOf(j) ? i - j : sizeOf(j) - sizeOf(i)));
  const shown = new Set(order.slice(0, termsOfLongSum));
  const others = tree.parts.filter((_, i) => !shown.has(i));
  const rest = others.reduce((all, { value }) => all + value, 0);
  const parts = tree.parts.filter((_, i) => shown.has(i)).map(withShortSums);
  parts.push({ kind: "number", value: rest, notation: `(${others.length}\u00A0others)`, parts: [] });
  return { ...tree, parts };
}

// Works out the innermost terms: those whose parts are numbers already.
function reduced(tree) {
  if (isLeaf(tree) || tree.parts.every(isLeaf)) return { kind: "number", value: tree.value, parts: [] };
  return { ...tree, parts: tree.parts.map(reduced) };
}

// The steps from a cell to its number: in symbols, in numbers, and then with one level of terms after another
// worked out.
function stepsOf(tree, style) {
  const steps = [new ExpressionWriter(style, true).write(tree)];
  for (let rest = tree; ; rest = reduced(rest)) {
    const next = new ExpressionWriter(style, false).write(rest);
    if (textOf(next.pieces) !== textOf(steps.at(-1).pieces)) steps.push(next);
    if (isLeaf(rest)) return steps;
  }
}

const rowOf = (node, row) => node.cells.subarray(row * node.columns, (row + 1) * node.columns);

// What the operations ask for. Rows and columns count from 1, as in the texts.

// How far one position is from another: along the text, or along the edges of a tree that has a parent for each word.
function distanceBetween(parents, from, to) {
  if (parents.length === 0) return to - from;
  const upwards = new Map([[from, 0]]); // the words from the one up to the root, and the edges to them
  for (let word = from; parents[word] !== 0; ) {
    word = parents[word] - 1;
    upwards.set(word, upwards.size);
  }
  let [edges, word] = [0, to];
  for (; !upwards.has(word); ++edges) word = parents[word] - 1;
  return edges + upwards.get(word);
}

const placeOfLargest = (node, row) =>
  rowOf(node, row - 1).reduce((best, value, j, cells) => (value > cells[best] ? j : best), 0) + 1;

// The sum of a row; 0 where no more than rounding is left of it.
function totalOf(node, row) {
  const cells = rowOf(node, row - 1);
  const sum = cells.reduce((all, value) => all + value, 0);
  const size = cells.reduce((all, value) => all + Math.abs(value), 0);
  return Number.isFinite(size) && Math.abs(sum) <= cells.length * Number.EPSILON * size ? 0 : sum;
}

// The power of two by which a row is divided so that the squares of its numbers can be added up.
function exponentOf(node, row) {
  const cells = rowOf(node, row - 1);
  const squares = cells.reduce((sum, value) => sum + value * value, 0);
  const smallestNormal = 2.2250738585072014e-308;
  if (squares >= smallestNormal && squares < Infinity) return 0;
  const largest = cells.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return largest === 0 || largest === Infinity ? 0 : Math.floor(Math.log2(largest));
}

// What `take` makes of all places of one or two variables, from the first to the last of each, where `holds`.
function over(ranges, holds, take) {
  const [[first, last], [otherFirst, otherLast] = [1, 1]] = ranges;
  const taken = [];
  for (let a = first; a <= last; ++a) {
    for (let b = otherFirst; b <= otherLast; ++b) if (holds(a, b)) taken.push(take(a, b));
  }
  return taken;
}

// The part of a matrix made of several, along its rows or its columns, that a cell belongs to, and its place there.
function cellOfJoined(node, along, row, column) {
  let place = along === "rows" ? row : column;
  for (const part of node.operands) {
    if (place < part[along]) return along === "rows" ? [part, place, column] : [part, row, place];
    place -= part[along];
  }
}

const calledCell = (node, row, column) => `${node.title}[${row},${column}]`;

// A number that went through nodes without a name was copied from the first one that has a name.
function copiedFrom(node, row, column) {
  while (!node.name) {
    const from = operations[node.operation](makeTrees(), node, row, column);
    if (from.kind !== "cell") return "";
    ({ node, row, column } = from);
  }
  return `copied from ${calledCell(node, row + 1, column + 1)}`;
}

// A number of an operation as it is written, until it is changed.
const notationOf = (settings, name) => settings[`${name}_notation`] ?? writtenShortest(settings[name]);
const writtenSetting = (setting) => (typeof setting === "string" ? setting : writtenShortest(setting));
