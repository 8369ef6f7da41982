// The second band: the computation as boxes from left to right, each with the numbers of one word as a strip. A box
// leads to its matrix; the strips travel from what it is made of.

const widthOfBox = 124;
const heightOfBox = 42;
const gapOfBoxes = 34;
const gapOfRows = 6;
const flightTime = 450; // milliseconds
const pauseOfPlay = 1400;

const movesFreely = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

// The axes of the rows of parameters: all other inputs have a row for each word, or say which words see each other.
const axesOfParameters = new Set(["features", "vocabulary"]);

const isOfWords = (node) => Boolean(node.operation) || node.content !== undefined || !axesOfParameters.has(node.rowAxis.name);

// The part of the model that a node stands in; gradients are a part of their own.
const gradients = "gradients of ";
const partOf = (node) => `${node.gradient ? gradients : ""}${node.block ?? ""}`;

class Flow {
  constructor(box, computation, { choose, titleOfBlock }) {
    Object.assign(this, { box, computation, choose, titleOfBlock });
    this.nodes = computation.nodes.filter((node) => node.name && original(node) === node && isOfWords(node));
    this.blocks = [...new Set(this.nodes.filter(({ operation }) => operation).map(partOf))];
    this.chips = element("div", { class: "chips", role: "group", "aria-label": "Parts of the model" });
    this.edges = svgOf("svg", { class: "edges", "aria-hidden": "true" });
    this.stage = element("div", { class: "boxes" });
    this.scroller = element("div", { class: "scroller", role: "group", "aria-label": "Steps of the computation" }, this.stage);
    box.replaceChildren(this.chips, this.scroller);
    this.chips.hidden = this.blocks.length < 2;
    withOneStop(this.chips, () => [...this.chips.children]);
    withOneStop(this.stage, () => [...this.stage.querySelectorAll(".box")]);
    this.writeChips();
  }

  writeChips() {
    this.chips.replaceChildren(
      ...this.blocks.map((block) => {
        const isOfGradients = block.startsWith(gradients);
        const title = this.titleOfBlock(isOfGradients ? block.slice(gradients.length) : block);
        const chip = element("button", { type: "button", class: "chip" }, isOfGradients ? `${gradients}${title}` : title);
        chip.addEventListener("click", () => this.choose(this.lastOf(block)));
        return chip;
      }),
    );
  }

  lastOf(block) {
    return this.membersOf(block).at(-1);
  }

  // The nodes of a block: of all heads those of the chosen one.
  membersOf(block) {
    const isShown = (node) => node.head === undefined || this.head === undefined || String(node.head) === this.head;
    return this.nodes.filter((node) => partOf(node) === block && isShown(node));
  }

  // In which order the boxes follow each other.
  get order() {
    return this.blocks.flatMap((block) => this.membersOf(block)).filter(({ operation }) => operation);
  }

  // `node`: the chosen one; `head`: whose nodes are shown; `rowFor`: the row of a node that belongs to the word.
  show(node, { head, rowFor }) {
    this.rowFor = rowFor;
    const isInFlow = this.nodes.includes(node);
    const block = isInFlow ? partOf(node) : (this.block ?? this.blocks[0]);
    if (block === undefined) return;
    const isLaidOut = this.block === block && this.head === head && (!isInFlow || this.places?.has(node));
    this.head = node.head === undefined ? head : String(node.head);
    this.block = block;
    if (!isLaidOut) this.layOut();
    const isOther = this.node !== node;
    this.node = node;
    [...this.chips.children].forEach((chip, i) => chip.setAttribute("aria-pressed", String(this.blocks[i] === block)));
    for (const [one, { button }] of this.places) button.setAttribute("aria-pressed", String(one === node));
    const boxes = [...this.places.values()].map(({ button }) => button);
    stopAtOnly(boxes, this.places.get(node)?.button ?? boxes[0]);
    stopAtOnly([...this.chips.children], this.chips.children[this.blocks.indexOf(block)]);
    this.draw();
    this.bringIntoView(isLaidOut);
    if (isOther && isLaidOut) this.fly();
  }

  // Columns by how far a node is from what goes in; an input stands right before what uses it.
  layOut() {
    const members = this.membersOf(this.block);
    const around = [...new Set(members.flatMap((node) => node.operands.flatMap(named)))].filter(
      (node) => isOfWords(node) && !members.includes(node) && partOf(node) !== this.block,
    );
    const shown = [...around, ...members];
    const operandsOf = (node) =>
      [...new Set(node.operands.flatMap(named))].filter((one) => one !== node && shown.includes(one));
    const depth = new Map();
    for (const node of shown)
      depth.set(node, members.includes(node) ? Math.max(0, ...operandsOf(node).map((one) => depth.get(one) + 1)) : 0);
    for (const node of [...shown].reverse()) {
      const users = shown.filter((one) => operandsOf(one).includes(node));
      const isBeginning = operandsOf(node).length === 0;
      if (isBeginning && users.length > 0) depth.set(node, Math.min(...users.map((one) => depth.get(one))) - 1);
    }
    const least = Math.min(...shown.map((node) => depth.get(node)));
    const columns = [];
    for (const node of shown) (columns[depth.get(node) - least] ??= []).push(node);
    this.places = new Map();
    const most = Math.max(...columns.map((column) => column?.length ?? 0));
    const height = most * (heightOfBox + gapOfRows) - gapOfRows;
    this.stage.replaceChildren(this.edges);
    [...columns].forEach((column, x) => {
      const free = height - (column.length * (heightOfBox + gapOfRows) - gapOfRows);
      column.forEach((node, y) => {
        const left = x * (widthOfBox + gapOfBoxes);
        const top = free / 2 + y * (heightOfBox + gapOfRows);
        this.places.set(node, { left, top, ...this.boxOf(node, left, top) });
      });
    });
    const width = columns.length * (widthOfBox + gapOfBoxes) - gapOfBoxes;
    this.stage.style.width = `${width}px`;
    this.stage.style.height = `${height}px`;
    this.drawEdges(operandsOf, width, height);
  }

  boxOf(node, left, top) {
    const canvas = element("canvas", { class: "strip", width: 1, height: 1, "aria-hidden": "true" });
    const name = node.name.slice(node.scope.length);
    const isHere = partOf(node) === this.block;
    const where = (isHere ? node.scope.slice((node.block ?? "").length) : node.scope).replace(/\.$/, "");
    const button = element(
      "button",
      { type: "button", class: isHere ? "box" : "box elsewhere", title: node.name },
      element("span", { class: "where" }, where),
      element("span", { class: "name" }, name),
      canvas,
    );
    button.style.left = `${left}px`;
    button.style.top = `${top}px`;
    button.addEventListener("click", () => this.choose(node));
    this.stage.append(button);
    return { button, canvas };
  }

  drawEdges(operandsOf, width, height) {
    this.edges.replaceChildren();
    this.edges.setAttribute("width", width);
    this.edges.setAttribute("height", height);
    for (const [node, to] of this.places) {
      for (const operand of operandsOf(node)) {
        const from = this.places.get(operand);
        const [x1, y1] = [from.left + widthOfBox, from.top + heightOfBox / 2];
        const [x2, y2] = [to.left, to.top + heightOfBox / 2];
        const bend = Math.max(12, (x2 - x1) / 2);
        this.edges.append(
          svgOf("path", { class: "edge", d: `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}` }),
        );
      }
    }
  }

  // The strips follow a change, and the chosen word.
  draw() {
    for (const [node, { canvas }] of this.places ?? []) {
      const row = this.rowFor(node);
      canvas.width = Math.min(node.columns, widthOfBox);
      const step = node.columns / canvas.width;
      drawCells(canvas, (x) => numbers.cell(node, row, Math.floor(x * step)), {
        largest: node.content === "weights" ? 1 : undefined,
      });
    }
  }

  bringIntoView(isOfSameParts) {
    const place = this.places.get(this.node);
    if (!place) return;
    const behavior = isOfSameParts && movesFreely() ? "smooth" : "instant";
    const left = place.left + widthOfBox / 2 - this.scroller.clientWidth / 2;
    this.scroller.scrollTo({ left, behavior });
    this.box.scrollTo({ top: place.top + heightOfBox / 2 - this.box.clientHeight / 2, behavior });
    const chip = this.chips.children[this.blocks.indexOf(this.block)];
    if (chip) this.chips.scrollTo({ left: chip.offsetLeft - this.chips.clientWidth / 2, behavior });
  }

  // The strips of what a box is made of travel to it.
  fly() {
    const to = this.places.get(this.node);
    if (!to || !movesFreely()) return;
    for (const operand of new Set(this.node.operands.flatMap(named))) {
      const from = this.places.get(operand);
      if (!from) continue;
      const strip = element("canvas", { class: "strip flying", width: from.canvas.width, height: 1 });
      strip.getContext("2d").drawImage(from.canvas, 0, 0);
      this.stage.append(strip);
      const at = ({ left, top }) => `translate(${left}px, ${top + heightOfBox - 10}px)`;
      const flight = strip.animate([{ transform: at(from) }, { transform: at(to) }], { duration: flightTime, easing: "ease-in-out" });
      flight.finished.finally(() => strip.remove());
    }
  }

  // One box after another, from the chosen one on, until it is stopped.
  play(isPlaying, stopped) {
    clearInterval(this.timer);
    if (!isPlaying) return;
    const order = this.order;
    if (this.node === order.at(-1)) this.choose(order[0]);
    this.timer = setInterval(() => {
      this.move(1);
      if (this.node === this.order.at(-1)) {
        clearInterval(this.timer);
        stopped();
      }
    }, pauseOfPlay);
  }

  move(by) {
    const { order } = this;
    const at = order.indexOf(this.node);
    const next = at < 0 ? 0 : Math.max(0, Math.min(order.length - 1, at + by));
    this.choose(order[next]);
  }
}
