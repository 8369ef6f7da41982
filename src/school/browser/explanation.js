// How one number was made: its name, and then one line after another. Each cell in the first line is a button
// that opens how that one was made, below, as deep as one goes.

class Explanation {
  // `light` is told which cells to light up: those that the shown number is made of, or one that is pointed at.
  // `edit` opens a field for an input; `slide` gives it another number while a slider is moved. Of a cell that
  // `isCovered` it says what it is made of, and no number.
  constructor(panel, { precision, light, goTo, edit, slide, isCovered }) {
    Object.assign(this, { panel, precision, light, goTo, edit, slide, isCovered });
    this.title = panel.querySelector("#explained");
    this.body = panel.querySelector("#derivation");
    this.announcement = panel.querySelector("#announcement");
    this.cell = null;
  }

  // `isTold`: to those who hear the page as well.
  show(cell, isTold) {
    this.cell = cell;
    const { node, row, column } = cell;
    this.panel.hidden = false;
    document.documentElement.classList.add("is-explained");
    this.title.textContent = `${node.name}[${row + 1},${column + 1}]${this.placeOf(cell)}`;
    const { lines, spoken, cells } = this.derivation(cell, this.scopeOf(node));
    this.body.replaceChildren(lines);
    if (canBeChanged(node)) {
      const what = node.words === undefined ? "Change this number" : "Choose another word";
      const button = element("button", { type: "button", class: "edit" }, what);
      button.addEventListener("click", () => this.edit(cell, button));
      this.body.append(button);
      if (node.content === undefined) this.body.append(this.slider(cell));
    }
    if (isTold) this.announcement.textContent = spoken;
    this.light(cell, cells);
  }

  // Twice as far as any number of the matrix reaches, in steps of one, two or five.
  slider(cell) {
    const { node, row, column } = cell;
    const largest = (node.given ?? node.cells).reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
    const end = 2 * (largest || 1);
    const exact = end / 50;
    const power = 10 ** Math.floor(Math.log10(exact));
    const step = power * [1, 2, 5, 10].find((one) => one * power >= exact * (1 - 1e-9));
    const most = Math.ceil(end / step) * step;
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const field = element("input", { type: "range", min: -most, max: most, step: "any", "aria-label": name });
    field.value = numbers.cell(node, row, column);
    field.addEventListener("input", () => {
      this.isSliding = true;
      this.slide(cell, Number((Math.round(field.value / step) * step).toPrecision(12)));
      this.isSliding = false;
    });
    field.addEventListener("change", () => {
      this.slide(cell, null);
      field.value = numbers.cell(node, row, column); // another one where the last was refused
    });
    field.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      field.value = Math.max(-most, Math.min(most, (Math.round(field.value / step) + by) * step));
      field.dispatchEvent(new Event("input"));
    });
    return element("label", { class: "slider" }, "Slide it ", field);
  }

  // The same number, after something was changed. A slider that is being moved stays.
  refresh() {
    if (!this.cell) return;
    if (!this.isSliding) return this.show(this.cell, false);
    const { node } = this.cell;
    const { lines, cells } = this.derivation(this.cell, this.scopeOf(node));
    this.body.querySelector(".made").replaceWith(lines);
    this.light(this.cell, cells);
  }

  close() {
    this.panel.hidden = true;
    document.documentElement.classList.remove("is-explained");
    this.cell = null;
    this.light(null, []);
  }

  // " (it, animal)": the words of its row and its column.
  placeOf({ node, row, column }) {
    const words = [
      [node.rowAxis, row],
      [node.columnAxis, column],
    ];
    const told = words.filter(([axis]) => axis.labels).map(([axis, i]) => axis.labels[i]);
    return told.length > 0 ? ` (${told.join(", ")})` : "";
  }

  // Names leave out the scope of the number that is explained.
  scopeOf(node) {
    return node.computation.nameWithin(node.scope, node.name) === node.name ? "" : node.scope;
  }

  derivation({ node, row, column }, scope, isFull = false) {
    const { precision } = this;
    const isCovered = this.isCovered({ node, row, column });
    const told = node.computation.derivation(node, row, column, { scope, precision, isFull });
    const terms = element("div", { class: "terms" });
    const list = element("ol", { class: "lines" });
    const spoken = [told.subject];
    const steps = isCovered ? told.steps.slice(0, 1) : told.steps;
    steps.forEach(({ pieces, isRounded }, i) => {
      const sign = isRounded ? "≈" : "=";
      const line = element("li", {}, element("span", { class: "sign" }, `${sign} `));
      for (const piece of pieces) line.append(piece.cell ? this.button(piece, scope, terms) : piece);
      list.append(line);
      if (i === 0 || i === steps.length - 1) spoken.push(`${sign} ${textOf(pieces)}`);
    });
    const whole = element("div", { class: "made" }, element("p", { class: "subject" }, told.subject), list);
    const isShared = node.operation === "softmax" && !node.computation.without.has(node.part);
    if (isShared && !isCovered) list.before(this.shares(node, row, column));
    if (told.isShortened) whole.append(this.buttonForAll({ node, row, column }, scope, whole));
    if (told.reason) whole.append(element("p", { class: "reason" }, told.reason));
    whole.append(terms);
    return { lines: whole, spoken: [...spoken, told.reason].filter(Boolean).join(" "), cells: told.cells };
  }

  // A row of a softmax at a glance: each key with its score, the exponential of it, and its share of their sum.
  shares(node, row, chosen) {
    const scores = rowOf(original(node.operands[0]), row);
    const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const shown = (x) => numeral(x, this.precision).text;
    const head = element("tr", {}, ...["key", "score", `exp(score − ${shown(most)})`, "share"].map((title) => element("th", { scope: "col" }, title)));
    const rows = range(node.columns).map((j) => {
      const share = numbers.cell(node, row, j);
      const cells = scores[j] === -Infinity ? ["masked", "0"] : [shown(scores[j]), shown(Math.exp(scores[j] - most))];
      const line = element("tr", { class: j === chosen ? "chosen" : undefined }, element("th", { scope: "row" }, labelOf(node.columnAxis, j)));
      line.append(...cells.map((text) => element("td", {}, text)));
      line.append(element("td", { class: "share" }, shown(share)));
      line.lastChild.style.setProperty("--weight", Math.max(0, Math.min(1, share)));
      return line;
    });
    const table = element("table", { class: "shares" }, element("thead", {}, head), element("tbody", {}, ...rows));
    return element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "The row of the softmax" }, table);
  }

  buttonForAll(cell, scope, whole) {
    const button = element("button", { type: "button", class: "all" }, "Show all terms");
    button.addEventListener("click", () => whole.replaceWith(this.derivation(cell, scope, true).lines));
    return button;
  }

  // A cell in a line: pointing at it lights it up, and pressing it tells how it was made.
  button({ cell, text }, scope, terms) {
    const button = element("button", { type: "button", class: "term", "aria-expanded": "false" }, text);
    let opened = null;
    button.addEventListener("click", () => {
      if (opened) {
        opened.remove();
        opened = null;
      } else {
        opened = this.derivation(cell, scope).lines;
        const go = element("button", { type: "button", class: "go" }, "Show it in its table");
        go.addEventListener("click", () => this.goTo(cell));
        opened.append(go);
        terms.append(opened);
      }
      button.setAttribute("aria-expanded", String(opened !== null));
    });
    const point = () => {
      const { node, row, column } = this.cell;
      this.light(this.cell, cellsOf(node.computation.explain(node, row, column).tree), cell);
    };
    button.addEventListener("pointerenter", point);
    button.addEventListener("focus", point);
    return button;
  }
}
