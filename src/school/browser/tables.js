// The tables of the page. Each stands in the file as a plain table, which names the matrix that it shows. Here
// it becomes a grid: its numbers follow the computation, and each of its cells can be chosen.

const shadeLevels = 9;
const leastShade = 0.03;
const mostWordsToChoose = 1000;
const mostCellsOfTable = 2500; // a larger matrix is a picture, whose cells can be chosen as well

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children); // text stays text
  return made;
}

const byId = (id) => document.getElementById(id);

// Of elements beside each other one is a stop of Tab; the arrow keys lead to the others.
function withOneStop(box, items) {
  box.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const all = items();
    const at = all.indexOf(event.target);
    if (!by || at < 0 || !all[at + by]) return;
    event.preventDefault();
    all[at + by].focus();
  });
}

function stopAtOnly(items, chosen) {
  for (const item of items) item.tabIndex = item === chosen ? 0 : -1;
}

function fill(select, titles, values = titles.map((_, i) => String(i))) {
  select.replaceChildren(...titles.map((title, i) => element("option", { value: values[i] }, title)));
}

// A row of cells for each column: of a table that is turned over.
const turned = (cells) => cells[0].map((_, j) => cells.map((row) => row[j]));

// A plain table of a matrix, with the places of its cells and labels; `isTurned`: it shows the transposed matrix.
function plainTable(node, isTurned, labelAt = labelOf) {
  const [rowAxis, columnAxis] = isTurned ? [node.columnAxis, node.rowAxis] : [node.rowAxis, node.columnAxis];
  const [rows, columns] = isTurned ? [node.columns, node.rows] : [node.rows, node.columns];
  const head = element("tr", {}, element("td"));
  head.append(...range(columns).map((j) => element("th", { scope: "col" }, labelAt(columnAxis, j))));
  const lines = range(rows).map((i) => {
    const line = element("tr", {}, element("th", { scope: "row" }, labelAt(rowAxis, i)));
    line.append(...range(columns).map(() => element("td")));
    return line;
  });
  const size = element("span", { class: "size" }, `${rows} × ${columns}`);
  const caption = element("caption", {}, isTurned ? `${node.name}ᵀ ` : `${node.name} `, size);
  const body = element("tbody", {}, ...lines);
  return element("table", { class: "matrix", "data-matrix": node.name }, caption, element("thead", {}, head), body);
}

class MatrixTable {
  // `isTurned`: the table shows the transposed matrix. Places of cells are those of the matrix all the same.
  constructor(table, node, precision, isTurned = false) {
    this.table = table;
    this.node = node;
    this.precision = precision;
    this.isTurned = isTurned;
    const rows = [...table.tBodies[0].rows];
    const cells = rows.map((row) => [...row.cells].filter((cell) => cell.matches("td:not(.sum)")));
    this.cells = isTurned ? turned(cells) : cells;
    this.sums = isTurned ? [] : rows.map((row) => row.querySelector("td.sum"));
    const heads = {
      rows: rows.map((row) => row.querySelector("th")),
      columns: [...(table.tHead?.rows[0].querySelectorAll("th:not(.sum)") ?? [])].slice(0, cells[0].length),
    };
    this.heads = isTurned ? { rows: heads.columns, columns: heads.rows } : heads;
    this.labels = { rows: node.rowAxis.labels, columns: node.columnAxis.labels };
    this.covered = null; // the places whose numbers are to be guessed
    this.legend = table.parentElement?.querySelector(".legend");
    this.shown = Float64Array.from(node.cells);
    this.compared = node.computation.reference?.[node.index];
    this.decimals = this.digits();
    this.becomeGrid();
  }

  // A table that is not in the file.
  static of(node, precision, isTurned = false) {
    const table = new MatrixTable(plainTable(node, isTurned), node, precision, isTurned);
    table.write();
    return table;
  }

  // One stop for Tab; the arrow keys go on from there.
  becomeGrid() {
    this.table.setAttribute("role", "grid");
    for (const formula of this.table.caption?.querySelectorAll("math") ?? []) formula.setAttribute("aria-hidden", "true");
    this.table.parentElement?.removeAttribute("tabindex");
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
    if (node.content !== "weights") return Boolean(this.node.masks) && node.cells[i * node.columns + j] === -Infinity;
    const isTransposed = node.operation === "transpose";
    const source = isTransposed ? original(node.operands[0]) : node;
    if (!source.sums || !source.operation) return false;
    const scores = source.operands[0];
    if (!scores.masks) return false;
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
    const compared = computation.reference?.[node.index];
    const isSame =
      decimals === this.decimals &&
      compared === this.compared &&
      node.cells.every((x, i) => sameNumber(x, this.shown[i]));
    this.markChanges(computation);
    this.relabel("rows", node.rowAxis);
    this.relabel("columns", node.columnAxis);
    if (isSame && !node.part && node.content !== "weights") return;
    this.write();
  }

  // The words and the numbers of now in a table that has those of before.
  rewrite() {
    this.labels = {};
    this.relabel("rows", this.node.rowAxis);
    this.relabel("columns", this.node.columnAxis);
    this.write();
  }

  write() {
    const { node } = this;
    this.decimals = this.digits();
    this.compared = node.computation.reference?.[node.index];
    this.shown.set(node.cells);
    const finite = node.cells.filter(Number.isFinite).map(Math.abs);
    const largest = node.content === "weights" ? 1 : finite.reduce((a, b) => Math.max(a, b), 0) || 1;
    let hasMasked = false;
    this.cells.forEach((row, i) => {
      row.forEach((cell, j) => {
        hasMasked = this.writeCell(cell, i, j, largest) || hasMasked;
      });
      if (this.sums[i]) {
        const sum = numbers.sum(rowOf(node, i));
        const most = decimalsFor([sum], this.precision);
        this.sums[i].textContent = writtenFixed(sum, most);
      }
    });
    this.markChanges(node.computation);
    this.tellMasked(hasMasked);
  }

  // The number, and beside it the one that it is compared with, if it has moved. Returns whether it is masked.
  writeCell(cell, i, j, largest) {
    const { node } = this;
    const place = i * node.columns + j;
    for (const name of [...cell.classList]) if (/^[pn]\d$/.test(name)) cell.classList.remove(name);
    const hasMoved = node.computation.hasMoved(node, place);
    cell.classList.toggle("moved", hasMoved);
    cell.classList.toggle("covered", this.isCovered(i, j));
    if (this.isCovered(i, j)) {
      cell.replaceChildren(element("span", { "aria-hidden": "true" }, "?"), element("span", { class: "heard" }, "covered"));
      return false;
    }
    const isMasked = this.isMasked(i, j);
    if (isMasked) {
      cell.replaceChildren(element("span", { "aria-hidden": "true" }, "·"), element("span", { class: "heard" }, "masked"));
    } else {
      cell.textContent = this.written(node.cells[place]);
      const shade = this.shadeOf(node.cells[place], largest);
      if (shade) cell.classList.add(shade);
    }
    if (hasMoved) this.writeOld(cell, node.computation.was(node, i, j), node.cells[place]);
    return isMasked;
  }

  // "~~0.88~~ 0.12 ▼"
  writeOld(cell, old, now) {
    const shown = element("span", { class: "now" }, ...cell.childNodes);
    const was = this.written(old);
    const sign = now > old ? "▲" : now < old ? "▼" : "";
    cell.replaceChildren(shown, element("span", { class: "sign", "aria-hidden": "true" }, sign));
    if (was !== shown.textContent) cell.prepend(element("span", { class: "heard" }, "was "), element("del", {}, was));
  }

  // --- numbers to guess

  // Covers every number, or shows all of them again.
  cover(isCovered) {
    const { rows, columns } = this.node;
    this.covered = isCovered ? new Set(range(rows * columns)) : null;
    this.write();
  }

  isCovered(i, j) {
    return this.covered?.has(i * this.node.columns + j) ?? false;
  }

  uncover(i, j) {
    this.covered.delete(i * this.node.columns + j);
    this.write();
  }

  // Whether a guess is the number, as exactly as the table shows it.
  isRight(guess, i, j) {
    const value = numbers.cell(this.node, i, j);
    if (!Number.isFinite(value)) return sameNumber(guess, value);
    return this.written(guess) === this.written(value);
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
    if (!this.isTurned) return this.placeWithin(key, hasControl, { row, column });
    const turnedKeys = { ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight", ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" };
    return this.placeWithin(turnedKeys[key] ?? key, hasControl, { row, column });
  }

  placeWithin(key, hasControl, { row, column }) {
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
