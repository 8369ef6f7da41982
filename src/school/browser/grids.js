// All tables of a page that computes: their cells can be chosen, by mouse and by keyboard, to see how their
// numbers were made, and those of inputs can be changed.

class Grids {
  // `all`: the changes of each computation, with the element that has its tables; `beginsEmpty`: they are added when
  // they are shown. `reveal` shows the table of a node where none is to be seen.
  constructor(all, { precision, reveal, beginsEmpty = false }) {
    Object.assign(this, { all, reveal });
    this.tables = [];
    this.byElement = new Map();
    if (!beginsEmpty) for (const changes of all) this.add(this.liveTables(changes, precision));
    this.explanation = new Explanation(byId("explanation"), {
      precision,
      light: (cell, made, pointed) => this.light(cell, made, pointed),
      goTo: (cell) => this.goTo(cell),
      edit: (cell, button) => this.edit(cell) || this.editInPlaceOf(button, cell),
      slide: (cell, value) => this.slide(cell, value),
      isCovered: ({ node, row, column }) => this.tableOf(node)?.isCovered(row, column) ?? false,
    });
    this.keepInReach();
    this.listen();
  }

  // The tables of a computation that stand in the file, in `body`.
  liveTables(changes, precision, body = changes.body) {
    const tables = [];
    const decimals = Number(changes.body.dataset.precision ?? precision);
    for (const table of body.querySelectorAll("table[data-matrix]")) {
      const node = changes.computation.byName.get(table.dataset.matrix);
      if (!node) continue;
      tables.push(new MatrixTable(table, node, decimals));
      tables.at(-1).changes = changes;
    }
    return tables;
  }

  changesOf(node) {
    return this.all.find(({ computation }) => computation === node.computation);
  }

  add(tables) {
    this.tables.push(...tables);
    for (const table of tables) this.byElement.set(table.table, table);
  }

  remove(tables) {
    this.tables = this.tables.filter((table) => !tables.includes(table));
    for (const table of tables) this.byElement.delete(table.table);
  }

  // What has to be scrolled sideways can be scrolled by keyboard: grids by their cells, the rest by itself.
  keepInReach() {
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
        else target.removeAttribute("tabindex");
      }
    });
    for (const box of document.querySelectorAll(".wide, .formula, figure")) {
      if (!box.querySelector("[role=grid]")) observer.observe(box);
    }
  }

  // The tables of a computation, and the explanation, follow a change.
  refresh(changes) {
    for (const table of this.tables) if (table.changes === changes) table.refresh(changes.computation);
    this.explanation.refresh();
  }

  // Opens a field in a cell of an input. Returns whether there is such a cell.
  edit({ node, row, column }, begin) {
    if (!this.tableOf(node) && node.rows * node.columns > mostCellsOfTable) return false;
    const cell = this.goTo({ node, row, column });
    const table = cell && this.byElement.get(cell.closest("table"));
    const isGuess = table?.isCovered(row, column);
    if (!table) return false;
    if (!(isGuess || canBeChanged(node)) || cell.querySelector("input, select")) return true;
    const field = isGuess ? this.fieldToGuess({ node, row, column }) : this.fieldFor({ node, row, column });
    field.value = begin ?? (isGuess ? "" : writtenShortest(numbers.cell(node, row, column)));
    const before = [...cell.childNodes];
    cell.replaceChildren(field);
    field.focus();
    if (begin === undefined) field.select?.();
    let isOpen = true;
    const finish = (isTaken) => {
      if (!isOpen) return;
      isOpen = false;
      cell.replaceChildren(...before);
      if (isTaken && isGuess) this.judge(field.value, table, { row, column });
      else if (isTaken) table.changes.take(field.value, { node, row, column });
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      finish(event.key === "Enter");
      table.stopAt({ row, column }).focus();
    });
    field.addEventListener("blur", () => finish(true));
    if (field.matches("select")) field.addEventListener("change", () => finish(true));
    return true;
  }

  // A field in the place of a button, for a number of a matrix that is too large for a table.
  editInPlaceOf(button, cell) {
    const field = this.fieldFor(cell);
    field.value = writtenShortest(numbers.cell(cell.node, cell.row, cell.column));
    button.replaceWith(field);
    field.focus();
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.explanation.refresh();
      if (event.key === "Enter") this.changesOf(cell.node).take(field.value, cell);
    });
  }

  // Where a number is typed, or the word of an id is chosen.
  fieldFor({ node, row, column }) {
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const words = node.words === undefined ? [] : node.computation.lists[node.words];
    if (words.length === 0 || words.length > mostWordsToChoose)
      return element("input", { type: "text", inputmode: "decimal", size: "6", "aria-label": `${name}, a new number` });
    const field = element("select", { "aria-label": `${name}, another word` });
    fill(
      field,
      words.map((word, i) => `${i + 1} ${word}`),
      words.map((_, i) => String(i + 1)),
    );
    return field;
  }

  fieldToGuess({ node, row, column }) {
    const name = `${node.name}[${row + 1},${column + 1}]`;
    return element("input", { type: "text", inputmode: "decimal", size: "6", "aria-label": `${name}, what you expect` });
  }

  // Says whether a guess is right. An empty one shows the number.
  judge(typed, table, { row, column }) {
    const { node } = table;
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const number = () => table.written(numbers.cell(node, row, column));
    const { status } = table.changes;
    const guess = numberTyped(typed);
    if (typed.trim() !== "" && Number.isNaN(guess)) {
      status.textContent = `“${typed}” is not a number.`;
      return;
    }
    const isRight = typed.trim() !== "" && table.isRight(guess, row, column);
    if (typed.trim() !== "" && !isRight) {
      status.textContent = `${name} is not ${typed}. Try again, or leave the field empty to see it.`;
      return;
    }
    table.uncover(row, column);
    status.textContent = isRight ? `Right: ${name} is ${number()}.` : `${name} is ${number()}.`;
    this.explanation.refresh();
  }

  // A slider gives an input another number; null: it has been let go.
  slide(cell, value) {
    const changes = this.changesOf(cell.node);
    if (value === null) changes.endGesture();
    else changes.set(cell, value, `${cell.node.name},${cell.row},${cell.column}`);
  }

  // The table of a node, one that is to be seen before others.
  tableOf(node) {
    const all = this.tables.filter((table) => original(table.node) === original(node));
    return all.find((table) => !table.table.closest("[hidden]")) ?? all[0];
  }

  // Shows a cell in its table, whatever was hidden.
  goTo({ node, row, column }) {
    if (!this.tableOf(node) || this.tableOf(node).table.closest("[hidden]")) this.reveal(node);
    const table = this.tableOf(node);
    if (!table) return null;
    for (let box = table.table.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    const cell = table.stopAt({ row, column });
    cell.focus();
    return cell;
  }

  light(chosen, made, pointed) {
    for (const cell of document.querySelectorAll("td.lit, td.chosen, td.pointed"))
      cell.classList.remove("lit", "chosen", "pointed");
    const mark = ({ node, row, column }, name) => {
      for (const table of this.tables) {
        if (original(table.node) === original(node)) table.cells[row]?.[column]?.classList.add(name);
      }
    };
    for (const cell of made) mark(cell, "lit");
    if (chosen) mark(chosen, "chosen");
    if (pointed) mark(pointed, "pointed");
  }

  // Leaves the table, and lets the mouse choose again.
  leave() {
    this.isPinned = false;
    this.explanation.close();
    document.activeElement?.blur();
  }

  cellAt(target) {
    const cell = target.closest?.("table[role=grid] td:not(.sum)");
    const table = cell && this.byElement.get(cell.closest("table"));
    const place = table?.placeOf(cell);
    return place ? { table, cell, node: table.node, ...place } : null;
  }

  listen() {
    document.addEventListener("focusin", (event) => {
      const at = this.cellAt(event.target);
      if (!at || event.target !== at.cell) return;
      at.table.stopAt(at);
      this.explanation.show(at, true);
      this.isPinned = true;
      at.cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    document.addEventListener("pointerover", (event) => {
      const at = event.pointerType === "mouse" && !this.isPinned && this.cellAt(event.target);
      if (at) this.explanation.show(at, false);
    });
    document.addEventListener("click", (event) => this.cellAt(event.target)?.cell.focus());
    document.addEventListener("dblclick", (event) => {
      const at = this.cellAt(event.target);
      if (at) this.edit(at);
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
    byId("close").addEventListener("click", () => this.leave());
  }

  pressed(event) {
    if (event.altKey || event.metaKey) return;
    if (event.key === "Escape") return this.leave();
    const at = this.cellAt(event.target);
    if (!at || event.target !== at.cell) return;
    const next = at.table.placeAfter(event.key, event.ctrlKey, at);
    if (next) {
      event.preventDefault();
      at.table.stopAt(next).focus();
    } else if (event.key === "Enter" || event.key === "F2") {
      event.preventDefault();
      if (at.table.isInput() || at.table.isCovered(at.row, at.column)) this.edit(at);
      else byId("derivation").querySelector("button")?.focus();
    } else if (
      (at.table.isInput() || at.table.isCovered(at.row, at.column)) &&
      !event.ctrlKey &&
      /^[-0-9.]$/.test(event.key)
    ) {
      event.preventDefault();
      this.edit(at, event.key);
    }
  }
}

// Says whether the computations of the page have the program's numbers, as far as these are part of it.
function tellAgreement(status, computations) {
  const wrong = computations.flatMap((computation) => computation.disagreements());
  const count = computations.reduce((sum, computation) => sum + computation.comparedNumbers(), 0);
  const summed = computations.reduce((sum, computation) => sum + computation.summedNumbers(), 0);
  const others = summed > 0 ? ` Of ${summed.toLocaleString("en")} others the page has only sums, which agreed too.` : "";
  status.textContent =
    wrong.length === 0
      ? `When this page was opened, all ${count.toLocaleString("en")} numbers agreed with those of attn.${others}`
      : `This page computes other numbers than attn for ${wrong.map((node) => node.name).join(", ")}. ` +
        "The tables show those of this page.";
  status.dataset.agrees = wrong.length === 0;
  return wrong.length === 0;
}
