// All tables of a page that computes: their cells can be chosen, by mouse and by keyboard, to see how their
// numbers were made, and those of inputs can be changed.

class Grids {
  // `all`: the changes of each computation, with the element that has its tables. `reveal` shows a table that is
  // hidden.
  constructor(all, { precision, reveal }) {
    this.reveal = reveal;
    this.tables = all.flatMap((changes) => this.liveTables(changes, precision));
    this.byElement = new Map(this.tables.map((table) => [table.table, table]));
    this.explanation = new Explanation(byId("explanation"), {
      precision,
      light: (cell, made, pointed) => this.light(cell, made, pointed),
      goTo: (cell) => this.goTo(cell),
      edit: (cell) => this.edit(cell),
    });
    this.keepInReach();
    this.listen();
  }

  liveTables(changes, precision) {
    const tables = [];
    const decimals = Number(changes.body.dataset.precision ?? precision);
    for (const table of changes.body.querySelectorAll("table[data-matrix]")) {
      const node = changes.computation.byName.get(table.dataset.matrix);
      if (!node) continue;
      tables.push(new MatrixTable(table, node, decimals));
      tables.at(-1).changes = changes;
    }
    return tables;
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

  // Opens a field in a cell of an input.
  edit({ node, row, column }, begin) {
    const table = this.tableOf(node);
    const cell = this.goTo({ node, row, column });
    if (!cell || !canBeChanged(node) || cell.querySelector("input")) return;
    const field = element("input", {
      type: "text",
      inputmode: "decimal",
      size: "6",
      "aria-label": `${node.name}[${row + 1},${column + 1}], a new number`,
    });
    field.value = begin ?? writtenShortest(numbers.cell(node, row, column));
    const before = [...cell.childNodes];
    cell.replaceChildren(field);
    field.focus();
    if (begin === undefined) field.select();
    let isOpen = true;
    const finish = (isTaken) => {
      if (!isOpen) return;
      isOpen = false;
      cell.replaceChildren(...before);
      if (isTaken) table.changes.take(field.value, { node, row, column });
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      finish(event.key === "Enter");
      table.stopAt({ row, column }).focus();
    });
    field.addEventListener("blur", () => finish(true));
  }

  tableOf(node) {
    const all = this.tables.filter((table) => table.node === node || original(table.node) === node);
    return all.find((table) => !table.table.closest("[hidden]")) ?? all[0];
  }

  // Shows a cell in its table, whatever was hidden.
  goTo({ node, row, column }) {
    const table = this.tableOf(node);
    if (!table) return null;
    if (table.table.closest("[hidden]")) this.reveal(table.table);
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
        if (original(table.node) === original(node)) table.cells[row][column]?.classList.add(name);
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
      if (at.table.isInput()) this.edit(at);
      else byId("derivation").querySelector("button")?.focus();
    } else if (at.table.isInput() && !event.ctrlKey && /^[-0-9.]$/.test(event.key)) {
      event.preventDefault();
      this.edit(at, event.key);
    }
  }
}

// Says whether the computations of the page have the program's numbers, as far as these are part of it.
function tellAgreement(status, computations) {
  const wrong = computations.flatMap((computation) => computation.disagreements());
  const count = computations.reduce((sum, computation) => sum + computation.comparedNumbers(), 0);
  status.textContent =
    wrong.length === 0
      ? `When this page was opened, all ${count.toLocaleString("en")} numbers agreed with those of attn.`
      : `This page computes other numbers than attn for ${wrong.map((node) => node.name).join(", ")}. ` +
        "The tables show those of this page.";
  status.dataset.agrees = wrong.length === 0;
  return wrong.length === 0;
}
