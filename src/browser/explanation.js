// How one number was made: its name, and then one line after another. Each cell in the first line is a button
// that opens how that one was made, below, as deep as one goes.

class Explanation {
  // `light` is told which cells to light up: those that the shown number is made of, or one that is pointed at.
  constructor(panel, { precision, light, goTo, edit }) {
    Object.assign(this, { panel, precision, light, goTo, edit });
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
      const button = element("button", { type: "button", class: "edit" }, "Change this number");
      button.addEventListener("click", () => this.edit(cell));
      this.body.append(button);
    }
    if (isTold) this.announcement.textContent = spoken;
    this.light(cell, cells);
  }

  // The same number, after something was changed.
  refresh() {
    if (this.cell) this.show(this.cell, false);
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

  derivation({ node, row, column }, scope, mostTerms = 8) {
    const { precision } = this;
    const told = node.computation.derivation(node, row, column, { scope, precision, mostTerms });
    const terms = element("div", { class: "terms" });
    const list = element("ol", { class: "lines" });
    const spoken = [told.subject];
    told.steps.forEach(({ pieces, isRounded }, i) => {
      const sign = isRounded ? "≈" : "=";
      const line = element("li", {}, element("span", { class: "sign" }, `${sign} `));
      for (const piece of pieces) line.append(piece.cell ? this.button(piece, scope, terms) : piece);
      list.append(line);
      if (i === 0 || i === told.steps.length - 1) spoken.push(`${sign} ${textOf(pieces)}`);
    });
    const whole = element("div", { class: "made" }, element("p", { class: "subject" }, told.subject), list);
    if (this.isShortened(told, mostTerms)) whole.append(this.buttonForAll({ node, row, column }, scope, whole));
    if (told.reason) whole.append(element("p", { class: "reason" }, told.reason));
    whole.append(terms);
    return { lines: whole, spoken: [...spoken, told.reason].filter(Boolean).join(" "), cells: told.cells };
  }

  isShortened({ steps }, mostTerms) {
    return mostTerms > 0 && steps.some(({ pieces }) => pieces.some((piece) => /^… \d+ more …$/.test(piece)));
  }

  buttonForAll(cell, scope, whole) {
    const button = element("button", { type: "button", class: "all" }, "Show all terms");
    button.addEventListener("click", () => whole.replaceWith(this.derivation(cell, scope, 0).lines));
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
