// The tables of the page. Each stands in the file as a plain table, which names the matrix that it shows. Here
// it becomes a grid: its numbers follow the computation, and each of its cells can be chosen.

const shadeLevels = 9;
const leastShade = 0.03;

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
    const isScientific = largest >= 1e10 || (largest !== 0 && largest < 0.5 * 10 ** -this.precision);
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
