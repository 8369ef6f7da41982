// The steps of the computation: the sections of the page, one at a time or one after the other.

class Steps {
  constructor(tables) {
    this.tables = tables;
    this.all = [...document.querySelectorAll("section.step")];
    this.offered = this.all;
    this.select = byId("choose-step").querySelector("select");
    this.select.addEventListener("change", () => this.show());
    byId("previous").addEventListener("click", () => this.move(-1));
    byId("next").addEventListener("click", () => this.move(1));
  }

  // Offers all steps but those of other weights: of heads and attentions that are not chosen.
  offer(others) {
    const scopes = others.map((node) => node.scope).filter((scope) => scope);
    const isElsewhere = ({ node }) => scopes.some((scope) => node.scope.startsWith(scope));
    const fits = (section) => {
      const tables = this.tables.filter(({ table }) => section.contains(table));
      return tables.length === 0 || !tables.every(isElsewhere);
    };
    this.putBack();
    const { shown } = this;
    this.offered = this.all.filter(fits);
    const titles = this.offered.map((section) => section.querySelector("h2")?.textContent ?? "the beginning");
    fill(this.select, ["all steps", ...titles]);
    this.choose(shown && (this.offered.includes(shown) ? shown : this.offered[0]));
  }

  // The section that is shown alone; undefined: all are shown.
  get shown() {
    return this.offered[this.select.selectedIndex - 1];
  }

  choose(section) {
    this.select.selectedIndex = this.offered.indexOf(section) + 1;
    this.show();
  }

  show() {
    this.putBack();
    const { shown } = this;
    for (const section of this.all) section.hidden = shown !== undefined && section !== shown;
    if (shown) this.bringOperands(shown);
    byId("previous").disabled = !shown;
    byId("next").disabled = shown !== undefined && shown === this.offered.at(-1);
  }

  move(by) {
    const { select } = this;
    select.selectedIndex = Math.max(0, Math.min(this.offered.length, select.selectedIndex + by));
    this.show();
    this.shown?.scrollIntoView({ block: "nearest" });
  }

  // Tables of other steps are shown in this one, so that what a number was made of can light up.
  bringOperands(section) {
    const own = this.tables.filter(({ table }) => section.contains(table));
    const named = (node) => (node.name ? [original(node)] : node.operands.flatMap(named));
    const operands = new Set(own.flatMap(({ node }) => original(node).operands.flatMap(named)));
    const brought = this.tables.filter((table) => operands.has(table.node) && !own.includes(table));
    if (brought.length === 0) return;
    const group = element("div", { class: "beside" });
    const heading = element("h3", {}, "What it is made of");
    section.append(heading, group);
    this.added = [heading, group];
    this.brought = brought.map(({ table }) => {
      const box = table.closest(".wide");
      const place = document.createComment("its table is shown in another step");
      box.replaceWith(place);
      group.append(box);
      return { box, place };
    });
  }

  putBack() {
    for (const { box, place } of this.brought ?? []) place.replaceWith(box);
    for (const added of this.added ?? []) added.remove();
    this.brought = this.added = undefined;
  }
}

// The page: what the reader chooses, changes and is told.

class PageOfComputation {
  constructor(data) {
    this.data = data;
    this.computation = new Computation(data.computation);
    this.computation.compute();
    this.nodes = this.computation.nodes;
    this.changes = new Changes(this.computation, {
      body: document.body,
      parts: byId("parts"),
      reset: byId("reset"),
      status: byId("changed"),
      follow: (sentence) => this.follow(sentence),
      followers: "Tables, explanations and the answer follow. Sentences in the steps were written before.",
    });
    this.grids = new Grids([this.changes], {
      precision: data.precision,
      reveal: () => this.steps.choose(undefined),
    });
    this.tables = this.grids.tables;
    this.steps = new Steps(this.tables);
    byId("live").hidden = false;
    this.tellAgreement();
    this.offerChoices();
    this.listen();
    this.showWord();
  }

  // --- what holds of the whole page

  tellAgreement() {
    if (tellAgreement(byId("agreement"), [this.computation])) return;
    this.grids.refresh(this.changes);
  }

  // Everything follows a change.
  follow(sentence) {
    this.grids.refresh(this.changes);
    if (this.weights.length > 0) this.offerWords(this.word.selectedIndex);
    this.showWord();
    this.changes.tell(sentence);
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
    if (keys.length === 0) return `${name} attends to no key: all its weights are 0. ${where}`;
    const shown = (j) => writtenFixed(100 * weights[j], 0);
    // Keys with the same number are told together or not at all.
    const most = 3;
    const ties = (j) => keys.length > most && shown(j) === shown(keys[most]);
    const told = keys.slice(0, most).filter((j, place) => !ties(j) && (place === 0 || shown(j) !== "0"));
    const rest = keys.slice(told.length);
    const next = rest.length > 0 ? shown(rest[0]) : "";
    const alike = rest.filter((j) => shown(j) === next).length;
    if (told.length === 0) {
      const others = alike < rest.length ? " All other keys have less." : "";
      return `${name} attends most to ${alike} keys, with ${next === "0" ? "less than 1" : next} % each.${others} ${where}`;
    }
    const list = listed(told.map((j) => `${called(node.columnAxis, j, "key")} (${shown(j)} %)`));
    const isTold = alike > 1 && alike === rest.length && next !== "0";
    const others = isTold ? ` Each of the other ${alike} has ${next} %.` : " No other key has a larger weight.";
    return `${name} attends to ${list}.${rest.length > 0 ? others : ""} ${where}`;
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

  listen() {
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
}

// “it”, or without words: query 2.
const called = (axis, i, noun) => calledBy(axis, i, noun, "“", "”");

const page = new PageOfComputation(JSON.parse(byId("data").textContent));
