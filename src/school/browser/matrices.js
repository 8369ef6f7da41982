// The third band: one matrix with what it is made of, laid out as it is computed. The first operand of a product
// stands at the left, the second one above, and the result where a row of the one meets a column of the other.

const mostColumnsBesideOthers = 6; // of wider ones, two states stand one below the other
const mostRowsBesideOthers = 5; // of larger matrices, operands show only the rows that are lit

// The named matrices behind an operand: the node itself, or what a node without a name is made of.
const named = (node) => (node.name ? [original(node)] : node.operands.flatMap(named));

// Of each product, which of its operands is transposed: the left one, and the one above.
const products = {
  matmul: [false, false],
  matmul_transposed: [false, true],
  transposed_matmul: [true, false],
};

// The product that a node is, or to which it only adds something; undefined: it is none.
function productOf(node) {
  const isProduct = ({ operation }) => operation in products;
  if (isProduct(node)) return node;
  return node.operands.find((operand) => !operand.name && isProduct(operand));
}

class Matrices {
  // Its tables join those of `grids`; `changes` are those of the page.
  constructor(box, { grids, changes, precision }) {
    Object.assign(this, { box, grids, changes, precision });
    this.tables = [];
    this.pictures = [];
    this.isComparing = false;
    this.isCovering = false;
  }

  // Shows a node, and what it is made of.
  show(node) {
    this.grids.remove(this.tables);
    this.tables = [];
    this.pictures = [];
    this.node = original(node);
    this.box.replaceChildren(this.layout());
    this.grids.add(this.tables);
    for (const picture of this.pictures) picture.draw();
    this.box.classList.toggle("is-narrow", !productOf(this.node) && this.node.rows > mostRowsBesideOthers);
    if (this.isCovering) this.cover(true);
  }

  layout() {
    const { node } = this;
    const result = this.resultAndDifference(this.blockOf(node, "result"));
    if (this.isComparing) return result;
    const operands = [...new Set(node.operands.flatMap(named))];
    const product = productOf(node);
    if (!product) {
      const group = element("div", { class: "operands" }, ...operands.map((one) => this.blockOf(one, "operand")));
      const sign = operands.length > 0 ? [group, element("span", { class: "becomes", "aria-hidden": "true" }, "→")] : [];
      return element("div", { class: "in-a-row" }, ...sign, result);
    }
    const [[left], [above]] = product.operands.map(named);
    const [isLeftTurned, isAboveTurned] = products[product.operation];
    const others = operands.filter((one) => one !== left && one !== above);
    return element(
      "div",
      { class: "product" },
      element("div", { class: "corner" }, ...others.map((one) => this.blockOf(one, "operand"))),
      element("div", { class: "above" }, this.blockOf(above, "operand", isAboveTurned)),
      element("div", { class: "left" }, this.blockOf(left, "operand", isLeftTurned)),
      result,
    );
  }

  // The result; where two states are compared, between the numbers of the other state and how far apart they are.
  resultAndDifference(result) {
    const { node, isComparing } = this;
    const box = element("div", { class: "meets" }, result);
    box.classList.toggle("is-comparing", isComparing);
    box.classList.toggle("is-wide", node.columns > mostColumnsBesideOthers);
    if (!isComparing || this.isCovering || !this.fits(node)) return box;
    box.prepend(this.plain("before", (i, j) => node.computation.was(node, i, j)));
    const apart = (i, j) => numbers.cell(node, i, j) - node.computation.was(node, i, j);
    box.append(this.plain("now − before", apart));
    return box;
  }

  // A table that is only read: of a larger matrix the rows that moved.
  plain(title, number) {
    const { node } = this;
    const hasMoved = (i) => range(node.columns).some((j) => node.computation.hasMoved(node, i * node.columns + j));
    const isLarge = node.rows > mostRowsBesideOthers;
    // The words are those that the other state has.
    const { labelsOfReference } = node.computation;
    const table = plainTable(node, false, ({ list }, i) => labelsOfReference[list]?.[i] ?? String(i + 1));
    table.removeAttribute("data-matrix");
    table.caption.firstChild.textContent = `${title} `;
    const all = range(node.rows).map((i) => range(node.columns).map((j) => number(i, j)));
    const decimals = decimalsFor(all.flat().filter(Number.isFinite), this.precision);
    all.forEach((row, i) => {
      table.tBodies[0].rows[i].hidden = isLarge && !hasMoved(i);
      row.forEach((value, j) => {
        const text = Number.isFinite(value) ? writtenFixed(value, decimals) : numeral(value, this.precision).text;
        table.tBodies[0].rows[i].cells[j + 1].textContent = value > 0 && title !== "before" ? `+${text}` : text;
      });
    });
    return element("div", { class: "wide other", tabindex: "0", role: "group", "aria-label": title }, table);
  }

  fits(node) {
    return node.rows * node.columns <= mostCellsOfTable;
  }

  blockOf(node, kind, isTurned = false) {
    const block = element("div", { class: `wide ${kind}` });
    if (this.fits(node)) {
      const table = MatrixTable.of(node, this.precision, isTurned);
      table.changes = this.changes;
      this.tables.push(table);
      block.append(table.table);
    } else {
      const picture = new MatrixPicture(node, isTurned, (cell) => this.grids.explanation.show(cell, true));
      this.pictures.push(picture);
      block.append(picture.figure);
    }
    return block;
  }

  has(node) {
    return this.tables.some((table) => original(table.node) === original(node));
  }

  get result() {
    return this.tables.find((table) => table.node === this.node);
  }

  // Tab leads to this cell of the result, and to what it is made of.
  stopAtLit({ row, column }) {
    for (const table of this.tables) {
      const lit = table.table.querySelector("td.lit");
      if (table.node === this.node) table.stopAt({ row, column }).scrollIntoView({ block: "nearest", inline: "nearest" });
      else if (lit) table.stopAt(table.placeOf(lit));
    }
  }

  // Everything follows a change.
  refresh() {
    for (const picture of this.pictures) picture.draw();
    if (!this.isComparing || !this.node) return;
    const box = this.box.querySelector(".meets");
    const kept = box.querySelector(".result");
    box.replaceWith(this.resultAndDifference(kept));
  }

  compare(isComparing) {
    this.isComparing = isComparing;
    this.show(this.node);
  }

  // Covers the numbers of the result, to be guessed, or shows them again.
  cover(isCovering) {
    this.isCovering = isCovering;
    document.documentElement.classList.toggle("is-covered", isCovering);
    if (this.isComparing) this.box.querySelector(".meets").replaceWith(this.resultAndDifference(this.box.querySelector(".result")));
    if (this.result && this.node.operation) this.result.cover(isCovering);
  }
}

// A matrix too large for a table: a pixel for each number. A click, or the fields below it, choose one.
class MatrixPicture {
  constructor(node, isTurned, choose) {
    Object.assign(this, { node, isTurned, choose });
    const [width, height] = isTurned ? [node.rows, node.columns] : [node.columns, node.rows];
    this.canvas = element("canvas", { width, height, "aria-hidden": "true" });
    const size = element("span", { class: "size" }, `${height} × ${width}`);
    const title = element("figcaption", {}, isTurned ? `${node.name}ᵀ ` : `${node.name} `, size);
    const field = (what, most) =>
      element("input", { type: "number", min: 1, max: most, value: 1, "aria-label": `${what} of ${node.name}` });
    const [row, column] = [field("row", node.rows), field("column", node.columns)];
    const go = element("button", { type: "button" }, "Explain");
    const within = (input, most) => Math.max(1, Math.min(most, Math.round(Number(input.value)) || 1)) - 1;
    go.addEventListener("click", () =>
      choose({ node, row: within(row, node.rows), column: within(column, node.columns) }),
    );
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const x = Math.min(width - 1, Math.floor(((event.clientX - box.left) / box.width) * width));
      const y = Math.min(height - 1, Math.floor(((event.clientY - box.top) / box.height) * height));
      choose({ node, row: isTurned ? x : y, column: isTurned ? y : x });
    });
    const fields = element("div", { class: "fields" }, "row ", row, " column ", column, go);
    this.figure = element("figure", { class: "picture" }, title, this.canvas, fields);
  }

  draw() {
    drawCells(this.canvas, (x, y) => (this.isTurned ? numbers.cell(this.node, x, y) : numbers.cell(this.node, y, x)), {
      largest: this.node.content === "weights" ? 1 : undefined,
    });
  }
}

// --- pictures of numbers

// "12, 34, 56" of a color that the page has as a variable.
const colorOf = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).split(",").map(Number);

// A pixel for each number: the color of positive or of negative numbers, the more of it the larger they are.
function drawCells(canvas, number, { largest = undefined } = {}) {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const [positive, negative] = [colorOf("positive"), colorOf("negative")];
  const all = range(width * height).map((place) => number(place % width, Math.floor(place / width)));
  const most = largest ?? (all.reduce((a, x) => (Number.isFinite(x) ? Math.max(a, Math.abs(x)) : a), 0) || 1);
  all.forEach((value, place) => {
    const strength = Number.isFinite(value) ? Math.min(1, Math.abs(value) / most) : 0;
    image.data.set([...(value < 0 ? negative : positive), Math.round(255 * strength)], 4 * place);
  });
  context.putImageData(image, 0, 0);
}
