// The computation of the page: its nodes with their numbers, what a reader changes about it, and how each
// number came about.

const labelOf = (axis, i) => axis.labels?.[i] ?? String(i + 1);

// A place in words: "it", "b" (query 2) where the label is repeated, or without labels query 2.
function calledBy(axis, i, what, open = '"', close = '"') {
  const number = `${what} ${i + 1}`;
  if (!axis.labels) return number;
  const word = `${open}${axis.labels[i]}${close}`;
  const isRepeated = axis.labels.filter((other) => other === axis.labels[i]).length > 1;
  return isRepeated ? `${word} (${number.toLowerCase()})` : word;
}
const sameNumber = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b));

// Numbers as attn writes them: a list, or where they are many the bytes of doubles in base64.
function numbersOf(written) {
  if (typeof written !== "string") return Float64Array.from(written, Number);
  return new Float64Array(Uint8Array.from(atob(written), (letter) => letter.charCodeAt(0)).buffer);
}

class Computation {
  // `data` is what attn wrote (computation.cpp). Operands stand before what is made of them.
  constructor(data) {
    this.nodes = [];
    this.byName = new Map();
    this.without = new Set(); // the parts that are left out: "scale", "mask", "positions"
    this.lists = data.labels; // of labels, as they were given
    this.labels = data.labels; // as they are now
    this.drawn = drawnNumbers(data.nodes.filter((one) => one.drawn));
    for (const one of data.nodes) this.add(one);
    this.changes = new Map(); // of inputs: node -> (place -> the number that was given)
    this.names = new Map(); // of rows whose words have no numbers: list -> (place -> the word that was given)
    this.divisor = undefined; // what scores are divided by, where it was changed
    this.reference = undefined; // the numbers that those of now are compared with
  }

  add(one) {
    const [rows, columns] = one.shape;
    const computation = this;
    const withLabels = ({ name, labels: list }) => ({
      name,
      list,
      get labels() {
        return computation.labels[list];
      },
    });
    const node = {
      ...one,
      computation: this,
      index: this.nodes.length,
      rows,
      columns,
      rowAxis: withLabels(one.rows),
      columnAxis: withLabels(one.columns),
      operands: (one.operands ?? []).map((i) => this.nodes[i]),
      attributes: one.attributes ?? {},
      title: one.name ?? one.title,
      scope: one.scope ?? "",
      cells: new Float64Array(rows * columns),
      given: one.numbers ? numbersOf(one.numbers) : this.drawn.get(one),
      some: one.some && { ...one.some, numbers: numbersOf(one.some.numbers) },
      made: undefined,
    };
    // JSON has no −∞: a number with a notation may be a word.
    for (const name of Object.keys(node.attributes)) {
      if (`${name}_notation` in node.attributes) node.attributes[name] = Number(node.attributes[name]);
    }
    if (!node.operation) node.cells.set(node.given);
    this.nodes.push(node);
    if (node.name) this.byName.set(node.name, node);
  }

  // Computes every node whose numbers may be others than before.
  compute() {
    for (const node of this.scaledNodes()) node.attributes = this.scaleOf(node);
    const moved = new Set();
    for (const node of this.nodes) {
      const isLeftOut = this.without.has(node.part);
      const made = `${isLeftOut} ${Object.values(node.attributes)}`; // how, beside what it is made of
      const isAsBefore = node.made === made;
      if (node.operation && isAsBefore && !node.operands.some((operand) => moved.has(operand))) continue;
      if (!node.operation && isAsBefore && (isLeftOut || !this.setInput(node))) continue;
      if (isLeftOut && node.instead === "operand") node.cells.set(node.operands[0].cells);
      else if (isLeftOut) node.cells.fill(node.instead);
      else if (node.operation) computations[node.operation](node);
      else this.setInput(node);
      node.made = made;
      moved.add(node);
    }
    this.relabel();
  }

  // The numbers that an input has now. Whether one of them is another than before.
  setInput(node) {
    const changes = this.changesOf(node);
    const isNew = (x, place) => !sameNumber(x, changes.get(place) ?? node.given[place]);
    if (!node.cells.some(isNew)) return false;
    node.cells.set(node.given);
    for (const [place, value] of changes) node.cells[place] = value;
    return true;
  }

  // The words of a sentence are those of its ids. Where two sentences had the same words and have other ones now,
  // nothing tells which labels are whose: they become numbers.
  relabel() {
    this.labels = [...this.lists];
    const claims = new Map();
    for (const node of this.nodes.filter((one) => one.words !== undefined && one.rowAxis.list !== undefined)) {
      const { list } = node.rowAxis;
      const words = Array.from(node.cells, (id, i) => (id === node.given[i] ? this.lists[list][i] : this.wordOf(node, id)));
      const isClaimed = claims.has(list) && claims.get(list).join("\n") !== words.join("\n");
      claims.set(list, words);
      this.labels[list] = isClaimed ? undefined : words;
    }
    for (const [list, names] of this.names) {
      this.labels[list] = this.lists[list].map((word, i) => names.get(i) ?? word);
    }
  }

  // The word that an id stands for.
  wordOf(node, id) {
    return this.lists[node.words][id - 1];
  }

  // The named nodes whose numbers are not those that attn computed: further apart than 1e-9 of the largest
  // number of their matrix, or of 1. Of large ones there are some of the numbers, and the sum of all that are
  // finite: it is further apart than 1e-9 of the sum of their sizes.
  disagreements() {
    const isFar = (x, y, largest) => !sameNumber(x, y) && !(Math.abs(x - y) <= 1e-9 * largest);
    const differs = (node) => {
      const known = node.given ?? node.some.numbers;
      const every = node.given ? 1 : node.some.every;
      const largest = known.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
      if (known.some((x, i) => isFar(node.cells[i * every], x, largest))) return true;
      if (!node.some) return false;
      const finite = node.cells.filter(Number.isFinite);
      return isFar(numbers.sum(finite), node.some.sum, numbers.sum(finite.map(Math.abs)) + 1);
    };
    return this.nodes.filter((node) => node.operation && (node.given || node.some) && differs(node));
  }

  // How many numbers attn computed as well and the page has, and how many are part of a sum only.
  comparedNumbers() {
    const all = this.nodes.filter((node) => node.operation);
    return all.reduce((count, { given, some }) => count + (given ?? some?.numbers ?? []).length, 0);
  }

  summedNumbers() {
    const all = this.nodes.filter((node) => node.operation && node.some);
    return all.reduce((count, { cells, some }) => count + cells.length - some.numbers.length, 0);
  }

  // --- what a reader changes

  changesOf(node) {
    return this.changes.get(node) ?? new Map();
  }

  // Why an input cannot have this number, whatever follows from it, in a sentence; "" where it can.
  refusal(node, value) {
    if (Number.isNaN(value)) return "is not a number";
    if (!Number.isFinite(value)) return "is not a finite number";
    if (node.content === "permissions" && value !== 0 && value !== 1) return "is neither 0 (masked) nor 1";
    if (node.content !== "ids") return "";
    const tables = this.nodes.filter((user) => user.operation === "embed" && user.operands[0] === node);
    const most = Math.min(...tables.map((user) => user.operands[1].rows));
    const isId = Number.isInteger(value) && value >= 1 && !(value > most);
    return isId ? "" : `is no row of ${tables[0]?.operands[1].title ?? "the table"}: give 1 to ${most}`;
  }

  // The first cell that is beyond double precision: computed, and NaN or infinite, but for masked scores, which are −∞.
  // So the program looks for it (src/core/attention/watches.cpp). undefined: there is none.
  overflow() {
    for (const node of this.nodes) {
      if (!node.operation || movingOperations.has(node.operation)) continue;
      const place = node.cells.findIndex((x) => !Number.isFinite(x) && !(node.masks && x === -Infinity));
      if (place >= 0) return { node, row: Math.floor(place / node.columns), column: place % node.columns };
    }
    return undefined;
  }

  // What is wrong with the numbers of now, as the end of a sentence; "" where nothing is.
  complaint() {
    const found = this.overflow();
    if (!found) return "";
    const { node, row, column } = found;
    const value = writtenShortest(numbers.cell(node, row, column));
    return `makes ${node.title}[${row + 1},${column + 1}] ${value}, which is beyond double precision`;
  }

  // Changes something. Where a number is beyond double precision then, and none was before, all is as before. Returns the
  // complaint, or "".
  attempt(act) {
    const before = this.save();
    const isBeyond = this.overflow() !== undefined;
    act();
    const complaint = isBeyond ? "" : this.complaint();
    if (complaint) this.restore(before);
    return complaint;
  }

  change(node, row, column, value) {
    const place = row * node.columns + column;
    const changes = this.changesOf(node);
    if (sameNumber(value, node.given[place])) changes.delete(place);
    else changes.set(place, value);
    if (changes.size > 0) this.changes.set(node, changes);
    else this.changes.delete(node);
    this.compute();
  }

  // Another word for a row. It changes no number: only ids do.
  rename(list, place, word) {
    const names = this.names.get(list) ?? new Map();
    if (word === this.lists[list][place]) names.delete(place);
    else names.set(place, word);
    if (names.size > 0) this.names.set(list, names);
    else this.names.delete(list);
    this.relabel();
  }

  // The scores that are divided by one number, which can be another one.
  scaledNodes() {
    return this.nodes.filter(({ part, operation }) => part === "scale" && operation === "divide");
  }

  scaleOf(node) {
    node.attributesGiven ??= node.attributes;
    if (this.divisor === undefined) return node.attributesGiven;
    return { ...node.attributesGiven, number: this.divisor, number_notation: writtenShortest(this.divisor) };
  }

  divideBy(divisor) {
    this.divisor = divisor;
    this.compute();
  }

  leaveOut(part, isLeftOut) {
    if (isLeftOut) this.without.add(part);
    else this.without.delete(part);
    this.compute();
  }

  reset() {
    this.restore({ changes: new Map(), without: new Set(), names: new Map(), divisor: undefined });
  }

  // What a reader has changed, to come back to.
  save() {
    const copied = (map) => new Map([...map].map(([key, inner]) => [key, new Map(inner)]));
    const { changes, without, names, divisor } = this;
    return { changes: copied(changes), without: new Set(without), names: copied(names), divisor };
  }

  restore({ changes, without, names, divisor }) {
    Object.assign(this, { changes, without, names, divisor });
    this.compute();
  }

  isChanged() {
    return this.changes.size > 0 || this.without.size > 0 || this.names.size > 0 || this.divisor !== undefined;
  }

  // --- what moved

  // From now on numbers are compared with those that stand here now.
  compareWithNow() {
    this.reference = this.nodes.map(({ cells }) => Float64Array.from(cells));
    this.labelsOfReference = [...this.labels];
  }

  // The number that this one is compared with.
  was(node, row, column) {
    return (this.reference?.[node.index] ?? node.cells)[row * node.columns + column];
  }

  hasMoved(node, place) {
    const before = this.reference?.[node.index];
    return before !== undefined && !sameNumber(before[place], node.cells[place]);
  }

  // The named matrices with other numbers than those that they are compared with: how many, and where most.
  moved() {
    return this.nodes
      .filter((node) => node.name && node.operation && node.operation !== "identity")
      .map((node) => {
        const places = range(node.cells.length).filter((place) => this.hasMoved(node, place));
        const by = (place) => Math.abs(node.cells[place] - this.reference[node.index][place]);
        const most = places.reduce((best, place) => (by(place) > by(best) ? place : best), places[0]);
        return { node, count: places.length, most };
      })
      .filter(({ count }) => count > 0);
  }

  isChangedAt(node, row, column) {
    return this.changesOf(node).has(row * node.columns + column);
  }

  // The parts that this computation has and that can be left out.
  parts() {
    return [...new Set(this.nodes.map((node) => node.part).filter((part) => part))];
  }

  // --- how a number came about

  // The tree of one cell, over cells that have a name, and a sentence where the terms alone do not say it.
  explain(node, row, column) {
    const trees = makeTrees();
    if (this.without.has(node.part)) {
      trees.because(() => `the ${node.part === "positions" ? "positional encoding" : node.part} is left out`);
      const tree =
        node.instead === "operand" ? trees.cell(node.operands[0], row, column) : trees.number(node.instead);
      return { tree: this.withNamesOnly(tree), reason: trees.reason };
    }
    if (!node.operation) {
      const was = this.isChangedAt(node, row, column)
        ? `was changed by you: it was ${writtenShortest(node.given[row * node.columns + column])}`
        : `${node.origin ?? "is given"}, not computed here`;
      return { tree: trees.number(numbers.cell(node, row, column)), reason: `${node.name} ${was}` };
    }
    const tree = this.withNamesOnly(operations[node.operation](trees, node, row, column));
    return { tree, reason: trees.reason };
  }

  // A node without a name cannot be pointed to: what stands behind its cell takes its place.
  withNamesOnly(tree) {
    if (tree.kind === "cell" && !tree.node.name) return this.explain(tree.node, tree.row, tree.column).tree;
    return { ...tree, parts: tree.parts.map((part) => this.withNamesOnly(part)) };
  }

  // A name from a scope on; in full outside of it, and where the rest is another node's name or begins with a
  // number.
  nameWithin(scope, name) {
    if (!scope || !name.startsWith(scope)) return name;
    const rest = name.slice(scope.length);
    return /^\d/.test(rest) || this.byName.has(rest) ? name : rest;
  }

  // A sentence on a node, with its name and those of its operands from a scope on.
  toldWithin(scope, node, sentence) {
    let told = sentence;
    for (const { name } of [...node.operands, node]) {
      const short = name && this.nameWithin(scope, name);
      if (name && short !== name) told = told.split(name).join(short);
    }
    return told;
  }

  // The explanation of a cell as attn writes it: its name, and steps of pieces.
  derivation(node, row, column, { scope, precision, isFull = false }) {
    const { tree, reason } = this.explain(node, row, column);
    const isShortened = !isFull && hasLongSum(tree);
    const nameOf = (cell) => `${this.nameWithin(scope, cell.node.name)}[${cell.row + 1},${cell.column + 1}]`;
    return {
      subject: nameOf({ node, row, column }),
      steps: stepsOf(isShortened ? withShortSums(tree) : tree, { precision, nameOf }),
      reason: this.toldWithin(scope, node, reason),
      cells: cellsOf(tree),
      isShortened,
    };
  }
}
