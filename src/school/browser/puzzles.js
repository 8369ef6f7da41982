// Numbers that a reader sets in a puzzle, and whether its properties hold. They are judged as the program judges
// them (src/school/puzzle/misses.cpp and trial.cpp), from what attn wrote (src/school/lesson/page_data.cpp).

const holdsFor = {
  "≥": (value, bound) => value >= bound,
  "≤": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  "<": (value, bound) => value < bound,
  "=": (value, bound, tolerance) => value === bound || Math.abs(value - bound) <= tolerance,
};

const entropyOf = (row) => -numbers.sum(row.map((p) => (p > 0 ? p * Math.log2(p) : 0)));

const ofRows = {
  sum: (row) => row.reduce((sum, cell) => sum + cell, 0),
  entropy: entropyOf,
  largest: (row) => Math.max(...row),
  smallest: (row) => Math.min(...row),
  most: (row, node) => onlyWord(row, node, Math.max(...row)),
  least: (row, node) => onlyWord(row, node, Math.min(...row)),
};

// Two ways to the same number may differ in its last bits.
const isNearlySame = (a, b) => a === b || Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

// The word of the column with this number, which no other column may have.
function onlyWord(row, node, number) {
  const places = range(row.length).filter((j) => isNearlySame(row[j], number));
  return places.length === 1 ? labelOf(node.columnAxis, places[0]) : "shared by several words";
}

// Works out a tree over the cells of a computation.
function workedOut(tree, computation) {
  const parts = (tree.parts ?? []).map((part) => workedOut(part, computation));
  const node = computation.nodes[tree.node];
  switch (tree.kind) {
    case "constant":
      return typeof tree.value === "string" && !Number.isNaN(Number(tree.value)) ? Number(tree.value) : tree.value;
    case "cell":
      return numbers.cell(node, tree.row, tree.column);
    case "row":
      return ofRows[tree.name]([...rowOf(node, tree.row)], node);
    case "sum":
      return parts.reduce((sum, part) => sum + part, 0);
    case "product":
      return parts.reduce((product, part) => product * part, 1);
    case "negative":
      return -parts[0];
    case "inverse":
      return 1 / parts[0];
    case "power":
      return parts[0] ** parts[1];
    case "call":
      return functionsTyped[tree.name](parts[0]);
    case "less":
      return parts[0] < parts[1] && !isNearlySame(...parts) ? "yes" : "no";
    case "greater":
      return parts[0] > parts[1] && !isNearlySame(...parts) ? "yes" : "no";
    case "equal":
      return isNearlySame(...parts) ? "yes" : "no";
  }
  throw new Error(`no such kind of tree: ${tree.kind}`);
}

// --- what is said where a property does not hold

const shortNumber = (number) => writtenFixed(number, decimalsFor([number], 4));

// As few decimals as tell the number apart from what it should be; a small one by its bound.
function toldBeside(number, bound) {
  if (Number.isNaN(number)) return "not a number";
  if (!Number.isFinite(number)) return numeral(number, 4).text;
  const smallestTold = 0.0001;
  if (number !== 0 && Math.abs(number) < smallestTold && Math.abs(bound) > 10 * smallestTold)
    return number > 0 ? "below 0.0001" : "between -0.0001 and 0";
  for (let decimals = decimalsFor([number], 2); decimals < 15; ++decimals) {
    const told = writtenFixed(number, decimals);
    const saysZero = number !== 0 && decimals < 4 && told === writtenFixed(0, decimals);
    if (!saysZero && (number === bound || told !== writtenFixed(bound, decimals))) return told;
  }
  return writtenShortest(number);
}

// The key with the largest weight; undefined where others have the same one, or all keys are masked.
function preferredKey(row) {
  const largest = Math.max(...row);
  if (!(largest > 0)) return undefined;
  const alike = range(row.length).filter((j) => writtenFixed(row[j], 4) === writtenFixed(largest, 4));
  return alike.length === 1 ? alike[0] : undefined;
}

// What a query does with its attention, and what it should do.
function weightOf(property, node, { row, column }, value, bound) {
  const [rows, columns] = [node.rowAxis, node.columnAxis];
  const isSelf = rows.labels && columns.labels && rows.labels.join("\n") === columns.labels.join("\n");
  const keyOf = (j) => (isSelf && j === row ? "itself" : calledBy(columns, j, "key"));
  const { head } = original(node);
  const query = calledBy(rows, row, "query");
  const cells = [...rowOf(node, row)];
  const most = preferredKey(cells);
  const isElsewhere = property.tolerance === undefined && value < bound && most !== undefined && most !== column;
  const facts = { "of a weight": true, "in a head": head !== undefined, "prefers another key": isElsewhere };
  const places = { head, query, Query: query[0].toUpperCase() + query.slice(1), key: keyOf(column) };
  if (isElsewhere) Object.assign(places, { preferred: keyOf(most), most: toldBeside(cells[most], value) });
  return { facts, places };
}

// What is said of a number that should be another one.
function missOfNumber(property, name, left, node, value, bound) {
  const { words: relation, tolerance } = property;
  const isWeight = node && original(node).attention && !Number.isNaN(value);
  const weight = isWeight ? weightOf(property, node, left, value, bound) : {};
  const facts = { "only a bound": tolerance === undefined, "with a tolerance": tolerance > 0, ...weight.facts };
  const places = { name, is: toldBeside(value, bound), relation, bound: shortNumber(bound), ...weight.places };
  if (tolerance !== undefined) places.tolerance = shortNumber(tolerance);
  const { says } = judgedBy("puzzle", { facts, places });
  return { about: isWeight ? `${node.name}[${left.row + 1}]` : name, says };
}

// Where a property does not hold: what is said, and of what.
function missesOf(property, computation) {
  const misses = [];
  for (const { name, left, right } of property.comparisons) {
    const [value, bound] = [workedOut(left, computation), workedOut(right, computation)];
    if (typeof value !== "number") {
      const places = { name, is: value, "should be": bound };
      if (value !== bound) misses.push({ about: name, says: judgedBy("puzzle", { facts: {}, places }).says });
    } else if (!holdsFor[property.sign](value, bound, property.tolerance)) {
      const node = left.kind === "cell" ? computation.nodes[left.node] : undefined;
      misses.push(missOfNumber(property, name, left, node, value, bound));
    }
  }
  return misses;
}

// A puzzle with numbers in place of what is to be set: its computations, one for each input.
class PuzzleTrial {
  constructor(puzzle, computations) {
    this.puzzle = puzzle;
    this.computations = puzzle.inputs.map(({ computation }) => new Computation(computations[computation]));
    for (const computation of this.computations) computation.isFixed = true;
    this.settings = puzzle.unknowns.map(({ start }) => start.map(Number));
    this.compute();
  }

  // Puts the numbers in their places.
  compute() {
    this.puzzle.inputs.forEach(({ places }, i) => {
      const computation = this.computations[i];
      computation.changes.clear();
      for (const { unknown, cell, node: index, place, attribute } of places) {
        const node = computation.nodes[index];
        const value = this.settings[unknown][cell];
        if (attribute !== undefined) {
          node.attributes[attribute] = value;
          delete node.attributes[`${attribute}_notation`];
        } else if (!sameNumber(value, node.given[place]))
          computation.changes.set(node, computation.changesOf(node).set(place, value));
      }
      computation.compute();
    });
  }

  // Why a number cannot be set; "" where it can.
  refusal(unknown, cell, value) {
    if (!Number.isFinite(value)) return "is not a finite number";
    for (const [i, { places }] of this.puzzle.inputs.entries()) {
      for (const place of places) {
        if (place.unknown !== unknown || place.cell !== cell) continue;
        const node = this.computations[i].nodes[place.node];
        const refusal = place.attribute === undefined ? this.computations[i].refusal(node, value) : "";
        if (refusal) return refusal;
        if (place.attribute !== undefined && value === 0) return "cannot be 0 here";
      }
    }
    return this.complaintOf(this.settings.map((cells, i) => cells.map((x, j) => (i === unknown && j === cell ? value : x))));
  }

  // What is wrong with the numbers that these settings would give, as the end of a sentence; "" where nothing is.
  complaintOf(settings) {
    const now = this.settings;
    this.settings = settings;
    this.compute();
    const complaints = this.computations.map((computation) => computation.complaint());
    this.settings = now;
    this.compute();
    return complaints.find((complaint) => complaint) ?? "";
  }

  // Whether it is solved, the first input where something is missed, and what is said to it.
  verdict() {
    const missed = this.puzzle.inputs.map(({ holds }, i) =>
      holds.flatMap((property) => missesOf(property, this.computations[i])),
    );
    const input = missed.findIndex((misses) => misses.length > 0);
    if (input < 0) return { isSolved: true, input: 0, says: [] };
    const mostTold = limits["misses told"];
    const first = new Map(); // one miss says enough of a row
    for (const { about, says } of missed[input]) if (!first.has(about)) first.set(about, says);
    const says = [...first.values()].slice(0, mostTold);
    const more = { facts: {}, places: { count: first.size - mostTold } };
    if (first.size > mostTold) says.push(judgedBy("more misses", more).says);
    for (const { when, says: note } of this.puzzle.inputs[input].notes) {
      if (missesOf(when, this.computations[input]).length === 0) says.push(note);
    }
    return { isSolved: false, input, says };
  }
}

// The puzzles of a lesson: a small table to set numbers in, and what becomes of them.
class PuzzleForm extends LessonForm {
  constructor(section, puzzle, { computations, ...lesson }) {
    super(section, puzzle.hints, lesson);
    this.puzzle = puzzle;
    this.trial = new PuzzleTrial(puzzle, computations);
    this.results = [...section.querySelectorAll("[data-of-puzzle]")].map((body, i) => ({
      body,
      computation: this.trial.computations[i],
    }));
    this.solutionButton = this.button("Show a solution", () => this.showSolution());
    this.skipButton = this.button("Skip the puzzle", () => this.skip());
    const back = this.button("Set all back", () => this.setBack());
    const tables = puzzle.unknowns.map((unknown, i) => this.tableOf(unknown, i));
    const form = this.makeForm(tables, back, this.hintButton, this.solutionButton, this.skipButton);
    const first = this.results[0]?.body ?? null;
    for (const part of [form, this.verdict, this.help]) section.insertBefore(part, first);
    this.clear();
    const before = this.kept.answers[puzzle.key];
    if (before?.settings) this.set(before.settings);
    if (before?.right && this.isSolved()) this.close("right");
    else if (before?.end) this.end = before.end;
    this.offer();
  }

  tableOf({ name, rows, columns }, unknown) {
    const caption = element("caption", {}, element("strong", {}, name), ` ${rows}×${columns}`);
    const body = element("tbody", {});
    this.fields ??= [];
    this.fields[unknown] = [];
    for (const i of range(rows)) {
      const row = element("tr", {});
      for (const j of range(columns)) {
        const label = `${name}[${i + 1},${j + 1}]`;
        const field = element("input", { type: "text", size: "5", autocomplete: "off", "aria-label": label });
        field.addEventListener("change", () => this.take(unknown, i * columns + j, label));
        this.fields[unknown].push(field);
        row.append(element("td", {}, field));
      }
      body.append(row);
    }
    return element("table", { class: "set" }, caption, body);
  }

  // --- setting numbers

  // Takes what was typed into a field; false where it cannot be set.
  take(unknown, cell, label) {
    const field = this.fields[unknown][cell];
    const value = numberTyped(field.value);
    const refusal = this.trial.refusal(unknown, cell, value);
    field.setAttribute("aria-invalid", String(refusal !== ""));
    if (refusal) {
      this.section.dataset.state = "open";
      this.say("", `${label}: “${field.value}” ${refusal}.`);
      return false;
    }
    if (sameNumber(value, this.trial.settings[unknown][cell])) return true;
    this.trial.settings[unknown][cell] = value;
    this.showNumbers();
    if (this.end !== "right") this.say("");
    return true;
  }

  set(settings) {
    const fits = settings.length === this.trial.settings.length;
    if (!fits || settings.some((cells, i) => cells.length !== this.trial.settings[i].length)) return;
    const taken = settings.map((cells) => cells.map(Number));
    if (!taken.flat().every(Number.isFinite) || this.trial.complaintOf(taken)) return;
    this.trial.settings = taken;
    this.fields.forEach((fields, i) =>
      fields.forEach((field, j) => {
        field.value = writtenShortest(this.trial.settings[i][j]);
        field.removeAttribute("aria-invalid");
      }),
    );
    this.showNumbers();
  }

  setBack() {
    this.set(this.puzzle.unknowns.map(({ start }) => start.map(Number)));
    this.say("");
  }

  // What becomes of them, on the input that tells most.
  showNumbers() {
    this.trial.compute();
    const { input } = this.trial.verdict();
    this.results.forEach((result, i) => {
      result.body.hidden = i !== input;
      this.refresh?.(result);
    });
  }

  // --- judging

  clear() {
    this.open();
    this.isSolutionShown = false;
    this.setBack();
    this.offer();
  }

  offer() {
    this.offerHint(false);
    this.solutionButton.hidden = this.puzzle.solution.length === 0 || this.isSolutionShown;
    this.skipButton.hidden = this.end !== undefined;
  }

  check() {
    const areTaken = this.puzzle.unknowns.every(({ name, columns }, i) =>
      this.fields[i].every((field, j) =>
        this.take(i, j, `${name}[${Math.floor(j / columns) + 1},${(j % columns) + 1}]`),
      ),
    );
    if (!areTaken || !this.isSolved()) return;
    this.kept.keep(this.puzzle.key, { settings: this.trial.settings, right: true });
    this.close("right");
  }

  // Whether the numbers that are set solve it; that is told as well.
  isSolved() {
    const { isSolved, says } = this.trial.verdict();
    this.section.dataset.state = isSolved ? "right" : "wrong";
    if (!isSolved) {
      this.miss(...says);
      return false;
    }
    const count = this.puzzle.inputs.length;
    this.say("Solved.", count > 1 ? ` It holds on all ${count} inputs.` : "");
    return true;
  }

  showSolution() {
    this.helpWith("One of the solutions: ", "type it, and see what it does.");
    this.help.append(...this.puzzle.solution.map((line) => element("p", {}, element("code", {}, line))));
    this.isSolutionShown = true;
    this.solutionButton.hidden = true;
  }

  skip() {
    this.kept.pass(this.puzzle.key, "skipped");
    this.close("skipped");
  }

  close(end) {
    this.end = end;
    this.offer();
    this.follow(this);
  }
}
