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
    this.trial.settings = settings.map((cells) => cells.map(Number));
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
    this.setBack();
    this.offer();
  }

  offer() {
    this.offerHint(false);
    this.solutionButton.hidden = this.puzzle.solution.length === 0;
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
