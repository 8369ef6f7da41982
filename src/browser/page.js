// The page: what the reader chooses, changes and is told.

class PageOfComputation {
  constructor(data) {
    this.data = data;
    this.computation = new Computation(data.computation);
    this.computation.compute();
    this.nodes = this.computation.nodes;
    this.tables = this.liveTables();
    this.byElement = new Map(this.tables.map((table) => [table.table, table]));
    this.steps = new Steps(this.tables);
    this.explanation = new Explanation(byId("explanation"), this.computation, {
      precision: data.precision,
      light: (cell, made, pointed) => this.light(cell, made, pointed),
      goTo: (cell) => this.goTo(cell),
      edit: (cell) => this.edit(cell),
    });
    byId("live").hidden = false;
    this.keepInReach();
    this.tellAgreement();
    this.offerChoices();
    this.offerParts();
    this.listen();
    this.showWord();
  }

  liveTables() {
    const tables = [];
    for (const table of document.querySelectorAll("table[data-matrix]")) {
      const node = this.computation.byName.get(table.dataset.matrix);
      if (node) tables.push(new MatrixTable(table, node, this.data.precision));
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

  // --- what holds of the whole page

  tellAgreement() {
    const wrong = this.computation.disagreements();
    const count = this.computation.comparedNumbers().toLocaleString("en");
    byId("agreement").textContent =
      wrong.length === 0
        ? `When this page was opened, all ${count} numbers agreed with those of attn.`
        : `This page computes other numbers than attn for ${wrong.map((node) => node.name).join(", ")}. ` +
          "The tables show those of this page.";
    byId("agreement").dataset.agrees = wrong.length === 0;
    if (wrong.length > 0) this.refreshTables();
  }

  // Everything follows a change.
  follow(sentence) {
    this.refreshTables();
    this.explanation.refresh();
    this.showWord();
    const isChanged = this.computation.isChanged();
    document.body.classList.toggle("is-changed", isChanged);
    byId("reset").disabled = !isChanged;
    const infinite = this.nodes.find((node) => node.operation && !node.part && node.cells.some(Number.isNaN));
    const warning = infinite ? ` ${infinite.title} has cells that are no numbers any more.` : "";
    const rest = isChanged
      ? " Tables, explanations and the answer follow. Sentences in the steps were written before."
      : "";
    byId("changed").textContent = `${sentence}${rest}${warning}`;
  }

  refreshTables() {
    for (const table of this.tables) table.refresh(this.computation);
  }

  // --- choices: an attention, a head, a word, a step

  offerChoices() {
    this.weights = this.nodes.filter((node) => node.attention);
    this.attentions = new Map();
    for (const node of this.weights) {
      const { scope, head } = node.attention;
      if (!this.attentions.has(scope)) this.attentions.set(scope, new Map());
      this.attentions.get(scope).set(String(head ?? ""), node);
    }
    const asked = this.nodes[this.data.question.weights];
    for (const name of ["attention", "head", "word"])
      this[name] = byId(`choose-${name}`).querySelector("select");
    const titles = [...this.attentions].map(([around, heads]) => {
      const [node] = heads.values();
      const word = node.rows === 1 && node.rowAxis.labels ? ` (${node.rowAxis.labels[0]})` : "";
      return around.replace(/\.$/, "") + word;
    });
    fill(this.attention, titles, [...this.attentions.keys()]);
    byId("choose-attention").hidden = this.attentions.size < 2;
    byId("choose-head").hidden = byId("choose-word").hidden = true;
    if (asked) {
      const [around, heads] = [...this.attentions].find(([, heads]) => [...heads.values()].includes(asked));
      this.attention.value = around;
      this.offerHeads([...heads].find(([, node]) => node === asked)[0]);
      this.offerWords(this.data.question.query);
    }
    byId("sentence").hidden = !asked;
    this.offerSteps();
  }

  offerHeads(chosen) {
    const heads = [...(this.attentions.get(this.attention.value)?.keys() ?? [])];
    fill(
      this.head,
      heads.length > 1 ? [...heads, "average"] : heads,
      heads.length > 1 ? [...heads, "average"] : heads,
    );
    this.head.value = chosen ?? heads[0];
    byId("choose-head").hidden = heads.length < 2;
  }

  offerWords(chosen) {
    const axis = this.chosenWeights()[0].rowAxis;
    const count = this.chosenWeights()[0].rows;
    fill(
      this.word,
      range(count).map((i) => (axis.labels ? `${i + 1} ${axis.labels[i]}` : `${i + 1}`)),
    );
    this.word.selectedIndex = Math.min(chosen, count - 1);
    byId("choose-word").hidden = count < 2;
  }

  offerSteps() {
    const chosen = this.weights.length > 0 ? this.chosenWeights() : [];
    this.steps.offer(this.weights.filter((node) => !chosen.includes(node)));
  }

  // The weights of the chosen head, or of all heads for their average.
  chosenWeights() {
    const heads = this.attentions.get(this.attention.value);
    return heads.has(this.head.value) ? [heads.get(this.head.value)] : [...heads.values()];
  }

  // The question, its answer, and the words shaded by the weights of the chosen one.
  showWord() {
    if (this.weights.length === 0) return;
    const chosen = this.chosenWeights();
    const [first] = chosen;
    const query = this.word.selectedIndex;
    const weights = range(first.columns).map(
      (j) => numbers.sum(chosen.map((node) => numbers.cell(node, query, j))) / chosen.length,
    );
    const title = this.data.question.before + called(first.rowAxis, query, "query") + this.data.question.after;
    byId("question").textContent = title;
    document.title = title;
    byId("answer").textContent = this.answer(first, query, weights, chosen.length > 1);
    this.showSentence(first, query, weights);
    for (const table of this.tables) this.markRow(table, chosen, first, query);
  }

  answer(node, query, weights, isAverage) {
    const keys = range(weights.length)
      .filter((j) => weights[j] > 0)
      .sort((a, b) => weights[b] - weights[a]);
    const name = called(node.rowAxis, query, "Query");
    const where = isAverage
      ? "This is the average of all heads: one head alone may attend to other words."
      : `This is its row in the table ${node.name}.`;
    if (keys.length === 0) return `${name} attends to no key: each is masked. ${where}`;
    const most = 3;
    const told = keys
      .slice(0, most)
      .map((j) => `${called(node.columnAxis, j, "key")} (${writtenFixed(100 * weights[j], 0)} %)`);
    const rest = keys.length > most ? " No other key has a larger weight." : "";
    return `${name} attends to ${listed(told)}.${rest} ${where}`;
  }

  // The keys as words, each with its weight; those that are queries too can be chosen.
  showSentence(node, query, weights) {
    const words = weights.map((weight, j) => {
      const percent = `${writtenFixed(100 * weight, 0)} %`;
      const isQuery = this.isOfItself(node);
      const word = element(isQuery ? "button" : "span", {
        class: "word",
        type: isQuery ? "button" : undefined,
      });
      word.append(
        element("span", {}, labelOf(node.columnAxis, j)),
        element("span", { class: "weight" }, percent),
      );
      word.style.setProperty("--weight", Math.max(0, Math.min(1, weight)));
      if (isQuery) {
        word.setAttribute("aria-pressed", String(j === query));
        word.addEventListener("click", () => {
          this.word.selectedIndex = j;
          this.showWord();
          byId("sentence").children[j].focus();
        });
      }
      return word;
    });
    byId("sentence").replaceChildren(...words);
  }

  isOfItself(node) {
    const [rows, columns] = [node.rowAxis.labels, node.columnAxis.labels];
    return (
      node.rows === node.columns &&
      (rows === columns || (rows && columns && rows.every((row, i) => row === columns[i])))
    );
  }

  // The row of the chosen word, in the weights and in all tables with a row for each of these words.
  markRow({ node, cells }, chosen, first, query) {
    const words = first.rowAxis.labels;
    const hasWords = words !== undefined && node.rowAxis.labels === words;
    const isNear = chosen.includes(node) || (hasWords && !this.weights.includes(node));
    cells.forEach((row, i) => row[0]?.parentElement.classList.toggle("asked", isNear && i === query));
  }

  // --- changes: parts that are left out, and inputs

  offerParts() {
    const titles = {
      scale: "the scaling of the scores",
      mask: "the mask",
      positions: "the positional encoding",
    };
    for (const part of this.computation.parts()) {
      const box = element("input", { type: "checkbox", value: part });
      box.addEventListener("change", () => {
        this.computation.leaveOut(part, box.checked);
        const name = titles[part][0].toUpperCase() + titles[part].slice(1);
        this.follow(`${name} ${box.checked ? "is left out." : "is there again."}`);
      });
      byId("parts").append(element("label", {}, box, ` ${titles[part]}`));
    }
    byId("parts").hidden = this.computation.parts().length === 0;
    byId("reset").addEventListener("click", () => {
      this.computation.reset();
      for (const box of byId("parts").querySelectorAll("input")) box.checked = false;
      this.follow("All changes are undone.");
    });
  }

  // Opens a field in a cell of an input.
  edit({ node, row, column }, begin) {
    const table = this.tableOf(node);
    const cell = this.goTo({ node, row, column });
    if (!cell || node.operation || cell.querySelector("input")) return;
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const old = numbers.cell(node, row, column);
    const field = element("input", {
      type: "text",
      inputmode: "decimal",
      size: "6",
      "aria-label": `${name}, a new number`,
    });
    field.value = begin ?? writtenShortest(old);
    const before = [...cell.childNodes];
    cell.replaceChildren(field);
    field.focus();
    if (begin === undefined) field.select();
    let isOpen = true;
    const finish = (isTaken) => {
      if (!isOpen) return;
      isOpen = false;
      const value = numberTyped(field.value);
      cell.replaceChildren(...before);
      if (!isTaken) return;
      const refusal = this.computation.refusal(node, value);
      if (refusal) {
        byId("changed").textContent = `“${field.value}” ${refusal}. ${name} stays ${writtenShortest(old)}.`;
        return;
      }
      if (sameNumber(value, old)) return;
      this.computation.change(node, row, column, value);
      this.follow(`${name} is ${writtenShortest(value)} now.`);
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

  // --- cells

  tableOf(node) {
    const all = this.tables.filter((table) => table.node === node || original(table.node) === node);
    return all.find((table) => !table.table.closest("[hidden]")) ?? all[0];
  }

  // Shows a cell in its table, whatever was hidden.
  goTo({ node, row, column }) {
    const table = this.tableOf(node);
    if (!table) return null;
    if (table.table.closest("[hidden]")) this.steps.choose(undefined);
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
    const chooses = (select, act) => select.addEventListener("change", act);
    chooses(this.attention, () => {
      this.offerHeads();
      this.offerWords(0);
      this.showWord();
      this.offerSteps();
    });
    chooses(this.head, () => {
      this.showWord();
      this.offerSteps();
    });
    chooses(this.word, () => this.showWord());
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

// “it”, or without words: query 2.
const called = (axis, i, noun) => (axis.labels ? `“${axis.labels[i]}”` : `${noun} ${i + 1}`);

const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

const page = new PageOfComputation(JSON.parse(byId("computation").textContent));
