// How one cell is made, as an expression over other cells. An operation (operations.js) says it once, with
// the functions of `make`. There are two of them: `numbers` works the expression out, `trees` keeps it, to be
// written in symbols and numbers, and to be asked for the cells that it is made of. `total` is the sum of
// term(0), term(1) and so on.

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

const numbers = {
  number: (value) => value,
  cell: (node, row, column) => node.cells[row * node.columns + column],
  sum(terms) {
    let total = 0;
    for (const term of terms) total += term;
    return total;
  },
  total(count, term) {
    let total = 0;
    for (let k = 0; k < count; ++k) total += term(k);
    return total;
  },
  product(factors) {
    let total = 1;
    for (const factor of factors) total *= factor;
    return total;
  },
  difference: (a, b) => a - b,
  quotient: (a, b) => a / b,
  square: (x) => x * x,
  call: (name, x) => functions[name](x),
  because() {},
};

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
    total(count, term) {
      return this.sum(Array.from({ length: count }, (_, k) => term(k)));
    },
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
// cells are called (`nameOf`), how many decimals there are, and how many terms of a sum are shown.
class ExpressionWriter {
  constructor(style, showsNames) {
    this.style = style;
    this.showsNames = showsNames;
    this.isExact = true;
  }

  write(tree) {
    return { pieces: this.whole(tree), isRounded: !this.isExact && !this.showsNames };
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
    const most = this.style.mostTerms;
    const isLong = most > 0 && parts.length > most;
    const pieces = [];
    for (let i = 0; i < parts.length; ++i) {
      if (i > 0) pieces.push(sign);
      if (isLong && i === most - 2) {
        pieces.push(`… ${parts.length - most + 1} more …`);
        i = parts.length - 2;
      } else {
        pieces.push(...this.part(parts[i], outer));
      }
    }
    return pieces;
  }
}

const textOf = (pieces) => pieces.map((piece) => piece.text ?? piece).join("");

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
