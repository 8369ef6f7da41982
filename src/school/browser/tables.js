// The tables of the page. Each stands in the file as a plain table, which names the matrix that it shows. Here
// it becomes a grid: its numbers follow the computation, and each of its cells can be chosen.

const shadeLevels = 9;
const leastShade = 0.03;
const mostWordsToChoose = 1000;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children); // text stays text
  return made;
}

const byId = (id) => document.getElementById(id);

function fill(select, titles, values = titles.map((_, i) => String(i))) {
  select.replaceChildren(...titles.map((title, i) => element("option", { value: values[i] }, title)));
}

class MatrixTable {
  constructor(table, node, precision) {
    this.table = table;
    this.node = node;
    this.precision = precision;
    const rows = [...table.tBodies[0].rows];
    this.cells = rows.map((row) => [...row.cells].filter((cell) => cell.matches("td:not(.sum)")));
    this.sums = rows.map((row) => row.querySelector("td.sum"));
    this.heads = {
      rows: rows.map((row) => row.querySelector("th")),
      columns: [...(table.tHead?.rows[0].querySelectorAll("th:not(.sum)") ?? [])].slice(0, this.cells[0].length),
    };
    this.labels = { rows: node.rowAxis.labels, columns: node.columnAxis.labels };
    this.legend = table.parentElement.querySelector(".legend");
    this.shown = Float64Array.from(node.cells);
    this.decimals = this.digits();
    this.becomeGrid();
  }

  // One stop for Tab; the arrow keys go on from there.
  becomeGrid() {
    this.table.setAttribute("role", "grid");
    this.table.parentElement.removeAttribute("tabindex");
    this.cells.flat().forEach((cell, place) => {
      cell.tabIndex = place === 0 ? 0 : -1;
      cell.setAttribute("role", "gridcell");
    });
    if (this.isInput()) {
      this.table.classList.add("input");
      this.table.caption.querySelector(".size")?.append(" · input");
    }
  }

  isInput() {
    return canBeChanged(this.node);
  }

  // --- what it shows

  digits() {
    const cells = this.node.cells;
    const largest = cells.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
    const areWhole = cells.every((x) => !Number.isFinite(x) || Number.isInteger(x));
    const isScientific = largest >= (areWhole ? 1e15 : 1e10) || (largest !== 0 && largest < 0.5 * 10 ** -this.precision);
    return isScientific ? "scientific" : decimalsFor(cells, this.precision);
  }

  written(value) {
    if (!Number.isFinite(value)) return numeral(value, this.precision).text;
    if (this.decimals === "scientific") return writtenScientific(value, this.precision);
    return writtenFixed(value, this.decimals);
  }

  // Weights of which the score is −∞ are masked.
  isMasked(i, j) {
    const node = original(this.node);
    if (node.content !== "weights") return node.cells[i * node.columns + j] === -Infinity;
    const isTransposed = node.operation === "transpose";
    const source = isTransposed ? original(node.operands[0]) : node;
    if (!source.sums || !source.operation) return false;
    const scores = source.operands[0];
    return (isTransposed ? numbers.cell(scores, j, i) : numbers.cell(scores, i, j)) === -Infinity;
  }

  shadeOf(value, largest) {
    if (this.node.content === "permissions" || Number.isNaN(value)) return "";
    const strength = Math.max(-1, Math.min(1, value / largest));
    const level = Math.abs(strength) < leastShade ? 0 : Math.round(Math.abs(strength) * shadeLevels);
    return level === 0 ? "" : (strength < 0 ? "n" : "p") + level;
  }

  // Writes the numbers as they are now.
  refresh(computation) {
    const { node } = this;
    const decimals = this.digits();
    const isSame = decimals === this.decimals && node.cells.every((x, i) => sameNumber(x, this.shown[i]));
    this.markChanges(computation);
    this.relabel("rows", node.rowAxis);
    this.relabel("columns", node.columnAxis);
    if (isSame && !node.part && node.content !== "weights") return;
    this.decimals = decimals;
    this.shown.set(node.cells);
    const finite = node.cells.filter(Number.isFinite).map(Math.abs);
    const largest = node.content === "weights" ? 1 : finite.reduce((a, b) => Math.max(a, b), 0) || 1;
    let hasMasked = false;
    this.cells.forEach((row, i) => {
      row.forEach((cell, j) => {
        const value = numbers.cell(node, i, j);
        for (const name of [...cell.classList]) if (/^[pn]\d$/.test(name)) cell.classList.remove(name);
        if (this.isMasked(i, j)) {
          hasMasked = true;
          cell.replaceChildren(element("span", { "aria-hidden": "true" }, "·"));
          cell.append(element("span", { class: "heard" }, "masked"));
          return;
        }
        cell.textContent = this.written(value);
        const shade = this.shadeOf(value, largest);
        if (shade) cell.classList.add(shade);
      });
      if (this.sums[i]) {
        const sum = numbers.sum(rowOf(node, i));
        const most = decimalsFor([sum], this.precision);
        this.sums[i].textContent = writtenFixed(sum, most);
      }
    });
    this.tellMasked(hasMasked);
  }

  // The heads of the rows or columns, if their words are others now.
  relabel(which, axis) {
    if (this.labels[which] === axis.labels) return;
    this.labels[which] = axis.labels;
    this.heads[which].forEach((head, i) => {
      if (head && head.textContent !== labelOf(axis, i)) head.textContent = labelOf(axis, i);
    });
  }

  tellMasked(hasMasked) {
    if (hasMasked && !this.legend) {
      this.legend = element("p", { class: "legend" }, "· masked");
      this.table.after(this.legend);
    }
    if (this.legend) this.legend.hidden = !hasMasked;
  }

  markChanges(computation) {
    if (!this.isInput()) return;
    this.cells.forEach((row, i) => {
      row.forEach((cell, j) => cell.classList.toggle("changed", computation.isChangedAt(this.node, i, j)));
    });
  }

  // --- the keys of a grid

  placeOf(cell) {
    const row = this.cells.findIndex((cells) => cells.includes(cell));
    return row < 0 ? null : { row, column: this.cells[row].indexOf(cell) };
  }

  // Where a key leads from a place; null where it is no key of a grid.
  placeAfter(key, hasControl, { row, column }) {
    const last = { row: this.cells.length - 1, column: this.cells[0].length - 1 };
    const page = 10;
    const within = (place) => ({
      row: Math.max(0, Math.min(last.row, place.row)),
      column: Math.max(0, Math.min(last.column, place.column)),
    });
    switch (key) {
      case "ArrowUp":
        return within({ row: row - 1, column });
      case "ArrowDown":
        return within({ row: row + 1, column });
      case "ArrowLeft":
        return within({ row, column: column - 1 });
      case "ArrowRight":
        return within({ row, column: column + 1 });
      case "PageUp":
        return within({ row: row - page, column });
      case "PageDown":
        return within({ row: row + page, column });
      case "Home":
        return { row: hasControl ? 0 : row, column: 0 };
      case "End":
        return { row: hasControl ? last.row : row, column: last.column };
    }
    return null;
  }

  // The cell that Tab comes to next time.
  stopAt({ row, column }) {
    for (const cell of this.table.querySelectorAll('td[tabindex="0"]')) cell.tabIndex = -1;
    const cell = this.cells[row][column];
    cell.tabIndex = 0;
    return cell;
  }
}

// Inputs, but those of a puzzle, which says what is set.
const canBeChanged = (node) => !node.operation && !node.computation.isFixed;

// The node itself, or the one whose numbers it has under another name.
const original = (node) => (node.operation === "identity" ? node.operands[0] : node);

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
      const what = node.words === undefined ? "Change this number" : "Choose another word";
      const button = element("button", { type: "button", class: "edit" }, what);
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

  derivation({ node, row, column }, scope, isFull = false) {
    const { precision } = this;
    const told = node.computation.derivation(node, row, column, { scope, precision, isFull });
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
    if (told.isShortened) whole.append(this.buttonForAll({ node, row, column }, scope, whole));
    if (told.reason) whole.append(element("p", { class: "reason" }, told.reason));
    whole.append(terms);
    return { lines: whole, spoken: [...spoken, told.reason].filter(Boolean).join(" "), cells: told.cells };
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

// What a reader changes about a computation: numbers of its inputs, and parts that are left out.

const titlesOfParts = {
  scale: "the scaling of the scores",
  mask: "the mask",
  positions: "the positional encoding",
};

class Changes {
  // `body` has the tables of the computation, and sentences that were written before. `parts` and `reset` change
  // it; `follow` is told in a sentence what was changed, and says so in `status` by tell(). `followers` says what
  // has followed.
  constructor(computation, { body, parts, reset, status, follow, followers }) {
    Object.assign(this, { computation, body, parts, reset, status, follow, followers });
    this.offerParts();
  }

  offerParts() {
    for (const part of this.computation.parts()) {
      const box = element("input", { type: "checkbox", value: part });
      box.addEventListener("change", () => {
        this.computation.leaveOut(part, box.checked);
        const title = titlesOfParts[part];
        const name = title[0].toUpperCase() + title.slice(1);
        this.follow(`${name} ${box.checked ? "is left out." : "is there again."}`);
      });
      this.parts.append(element("label", {}, box, ` ${titlesOfParts[part]}`));
    }
    this.parts.hidden = this.computation.parts().length === 0;
    this.reset.addEventListener("click", () => {
      this.computation.reset();
      for (const box of this.parts.querySelectorAll("input")) box.checked = false;
      this.follow("All changes are undone.");
    });
  }

  // Takes what was typed into a cell.
  take(typed, { node, row, column }) {
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const word = (id) => (node.words === undefined ? "" : ` (${this.computation.wordOf(node, id)})`);
    const old = numbers.cell(node, row, column);
    const value = numberTyped(typed);
    const refusal = this.computation.refusal(node, value);
    if (refusal) {
      this.status.textContent = `“${typed}” ${refusal}. ${name} stays ${writtenShortest(old)}.`;
      return;
    }
    if (sameNumber(value, old)) return;
    this.computation.change(node, row, column, value);
    this.follow(`${name} is ${writtenShortest(value)}${word(value)} now.`);
  }

  // Says what was changed, when everything has followed.
  tell(sentence) {
    const isChanged = this.computation.isChanged();
    this.body.classList.toggle("is-changed", isChanged);
    this.reset.disabled = !isChanged;
    const infinite = this.computation.nodes.find(
      (node) => node.operation && !node.part && node.cells.some(Number.isNaN),
    );
    const warning = infinite ? ` ${infinite.title} has cells that are no numbers any more.` : "";
    this.status.textContent = `${sentence}${isChanged ? ` ${this.followers}` : ""}${warning}`;
  }
}

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
    if (!cell || !canBeChanged(node) || cell.querySelector("input, select")) return;
    const field = this.fieldFor({ node, row, column });
    field.value = begin ?? writtenShortest(numbers.cell(node, row, column));
    const before = [...cell.childNodes];
    cell.replaceChildren(field);
    field.focus();
    if (begin === undefined) field.select?.();
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
    if (field.matches("select")) field.addEventListener("change", () => finish(true));
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
