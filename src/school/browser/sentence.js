// The first band: the words of queries and of keys, and lines between them, one for each weight.

const svgOf = (name, attributes = {}) => {
  const made = document.createElementNS(byId("empty-drawing").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const leastLine = 0.005; // a weight that rounds to 0 % has no line
const leastLineOfMany = 0.05; // where the lines of all words are shown
const kindsOfHeads = 8; // colors of lines
const mostWordsOffered = 2000;

// Whether rows and columns of a matrix are the same words.
function isOfItself(node) {
  const [rows, columns] = [node.rowAxis.labels, node.columnAxis.labels];
  const areSame = rows === columns || (rows && columns && rows.every((row, i) => row === columns[i]));
  return node.rows === node.columns && areSame;
}

class Sentence {
  // `given`: how many of the words were given, where a model wrote the rest. `choose` is told which query was chosen;
  // `setWord` which word was typed, on which axis and where.
  constructor(box, computation, given, { choose, setWord }) {
    Object.assign(this, { box, computation, given, choose, setWord });
    this.queries = element("div", { class: "words", role: "group", "aria-label": "Queries" });
    this.lines = svgOf("svg", { class: "lines-of-weights", "aria-hidden": "true" });
    this.keys = element("div", { class: "words", role: "group", "aria-label": "Keys" });
    this.inner = element("div", { class: "inner" }, this.queries, this.lines, this.keys);
    this.box.replaceChildren(this.inner);
    for (const words of [this.queries, this.keys]) withOneStop(words, () => [...words.querySelectorAll("button.name")]);
    this.showsAll = false;
    this.wordLists = new Map();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  // The input whose ids are the words of an axis; undefined: its words are only names.
  idsOf(axis) {
    if (axis.list === undefined) return undefined;
    return this.computation.nodes.find((node) => node.words !== undefined && node.rowAxis.list === axis.list);
  }

  // `chosen`: the weights of the chosen head, or of all; `query`: the row that is asked about.
  show(chosen, query) {
    const [first] = chosen;
    const isSame = this.chosen?.length === chosen.length && chosen.every((node, i) => node === this.chosen[i]);
    Object.assign(this, { chosen, query });
    const shape = [first.index, ...(first.rowAxis.labels ?? [first.rows]), ...(first.columnAxis.labels ?? [first.columns])].join("\n");
    if (!isSame || shape !== this.shape) this.write();
    this.shape = shape;
    this.tellWeights();
    this.align();
    this.bringIntoView();
    this.draw();
  }

  write() {
    const [first] = this.chosen;
    const all = () => [...this.inner.querySelectorAll(".name")];
    const focused = all().indexOf(document.activeElement);
    this.queries.replaceChildren(...range(first.rows).map((i) => this.wordOf(first.rowAxis, i, true)));
    this.keys.replaceChildren(...range(first.columns).map((j) => this.wordOf(first.columnAxis, j, isOfItself(first))));
    all()[focused]?.focus();
  }

  // A word: a field to type another one into, where it has a label; a key only where it is no query as well.
  wordOf(axis, place, isQuery) {
    const isKeyOfItself = isQuery && axis === this.chosen[0].columnAxis;
    const label = labelOf(axis, place);
    const ids = this.idsOf(axis);
    const isWritten = place >= this.given && ids !== undefined && ids.cells[place] === ids.given[place];
    const word = element("div", { class: isWritten ? "word written" : "word" });
    if (axis.labels && !isKeyOfItself) {
      word.append(this.fieldOf(axis, place, label, { isQuery, isWritten }));
    } else {
      const name = `${isQuery ? "query" : "key"} ${place + 1}: ${label}`;
      const button = element("button", { type: "button", class: "name", "aria-label": name }, label);
      button.addEventListener("click", () => (isQuery ? this.choose(place) : this.point(undefined, place)));
      word.append(button);
    }
    const point = isQuery && !isKeyOfItself ? [place, undefined] : [undefined, place];
    word.addEventListener("pointerenter", () => this.point(...point));
    word.addEventListener("pointerleave", () => this.point());
    return word;
  }

  fieldOf(axis, place, label, { isQuery, isWritten }) {
    const ids = this.idsOf(axis);
    const field = element("input", {
      type: "text",
      class: "name",
      size: Math.max(2, [...label].length),
      "aria-label": `${isQuery ? "query" : "key"} ${place + 1}: ${label}${isWritten ? ", written by the model" : ""}`,
      autocomplete: "off",
      spellcheck: "false",
      list: ids && this.listOf(ids),
    });
    field.value = label;
    field.addEventListener("focus", () => {
      if (isQuery && this.query !== place) this.choose(place);
      field.select();
    });
    const take = () => {
      const typed = field.value.trim();
      if (typed === "" || typed === label) field.value = label;
      else if (!this.setWord(axis, ids, place, typed)) field.value = label;
    };
    field.addEventListener("change", take);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") field.value = label;
      const next = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const isAtEdge = next === 1 ? field.selectionEnd === field.value.length : field.selectionStart === 0;
      if (next && isAtEdge) {
        const other = field.closest(".words").children[place + next]?.querySelector(".name");
        if (other) {
          event.preventDefault();
          other.focus();
        }
      }
    });
    return field;
  }

  // The words that ids stand for, to choose from.
  listOf(ids) {
    const words = this.computation.lists[ids.words];
    if (words.length > mostWordsOffered) return undefined;
    if (!this.wordLists.has(ids.words)) {
      const id = `words-${ids.words}`;
      this.wordLists.set(ids.words, id);
      this.box.append(element("datalist", { id }, ...words.map((word) => element("option", { value: word }))));
    }
    return this.wordLists.get(ids.words);
  }

  // The weight of a key for a query: of the chosen head, or the mean of all.
  weight(query, key) {
    return numbers.sum(this.chosen.map((node) => numbers.cell(node, query, key))) / this.chosen.length;
  }

  // The chosen word stands in sight.
  bringIntoView() {
    const word = this.queries.children[this.query];
    if (word) this.box.scrollTo({ left: word.offsetLeft - this.box.clientWidth / 2 });
  }

  // Where queries and keys are the same words, each stands above itself.
  align() {
    if (!isOfItself(this.chosen[0])) return;
    const pairs = [...this.queries.children].map((word, i) => [word, this.keys.children[i]]);
    for (const word of pairs.flat()) word.style.minWidth = "";
    const widths = pairs.map((pair) => Math.max(...pair.map((word) => word.offsetWidth)));
    pairs.forEach((pair, i) => pair.forEach((word) => (word.style.minWidth = `${widths[i]}px`)));
  }

  tellWeights() {
    [...this.queries.children].forEach((word, i) => {
      word.classList.toggle("asked", i === this.query);
      if (i === this.query) word.setAttribute("aria-current", "true");
      else word.removeAttribute("aria-current");
    });
    for (const words of [this.queries, this.keys]) {
      const names = [...words.querySelectorAll(".name")];
      stopAtOnly(names, names[this.query] ?? names[0]);
    }
    [...this.keys.children].forEach((word, j) => {
      const weight = this.weight(this.query, j);
      word.querySelector(".weight")?.remove();
      word.append(element("span", { class: "weight" }, `${writtenFixed(100 * weight, 0)} %`));
      word.style.setProperty("--weight", Math.max(0, Math.min(1, weight)));
    });
  }

  // --- lines

  // Lines of a query or of a key that is pointed at; of the chosen query where none is.
  point(query, key) {
    this.pointed = { query, key };
    this.draw();
  }

  // Lines of all words, too.
  showAll(isShown) {
    this.showsAll = isShown;
    this.draw();
  }

  draw() {
    if (!this.chosen || this.inner.offsetWidth === 0) return;
    const [first] = this.chosen;
    const middles = (row) => [...row.children].map((word) => word.offsetLeft + word.offsetWidth / 2);
    const [tops, bottoms] = [middles(this.queries), middles(this.keys)];
    const height = this.lines.clientHeight || 60;
    this.lines.replaceChildren();
    const { query, key } = this.pointed ?? {};
    const pairs = [];
    for (let i = 0; i < first.rows; ++i)
      for (let j = 0; j < first.columns; ++j) {
        const isPointed = key === undefined ? i === (query ?? this.query) : j === key;
        if (isPointed || this.showsAll) pairs.push({ i, j, isPointed });
      }
    this.chosen.forEach((node, h) => {
      const shift = (h - (this.chosen.length - 1) / 2) * 2;
      for (const { i, j, isPointed } of pairs) {
        const weight = numbers.cell(node, i, j);
        if (!(weight >= (isPointed ? leastLine : leastLineOfMany))) continue;
        const line = svgOf("path", {
          class: `line h${(((node.head ?? 1) - 1) % kindsOfHeads) + 1}${isPointed ? "" : " faint"}`,
          d: `M ${tops[i] + shift} 0 C ${tops[i] + shift} ${height / 2}, ${bottoms[j] + shift} ${height / 2}, ${bottoms[j] + shift} ${height}`,
          "stroke-width": (1 + 6 * Math.min(1, weight)).toFixed(2),
          "stroke-opacity": (0.25 + 0.75 * Math.min(1, weight)).toFixed(2),
        });
        this.lines.append(line);
      }
    });
  }
}

// --- the maps of all heads: a row for each attention, a column for each of its heads

const mostLargeMaps = 12;
const mostLinesOfLargeMaps = 3;

class Maps {
  // `isAlone`: a single map is shown as well.
  constructor(box, attentions, isAlone, { choose, titleOf }) {
    Object.assign(this, { box, attentions, choose, titleOf });
    this.maps = [];
    withOneStop(box, () => this.maps.map(({ button }) => button));
    const count = [...attentions.values()].reduce((sum, heads) => sum + heads.size, 0);
    box.hidden = count < (isAlone ? 1 : 2);
    box.classList.toggle("many", count > mostLargeMaps || attentions.size > mostLinesOfLargeMaps);
    for (const [around, heads] of attentions) {
      const line = element("div", { class: "line-of-maps" });
      for (const [head, node] of heads) line.append(this.mapOf(around, head, node));
      box.append(line);
    }
  }

  mapOf(around, head, node) {
    const canvas = element("canvas", { width: node.columns, height: node.rows });
    const title = [this.titleOf(around), head && `head ${head}`].filter(Boolean).join(", ");
    const button = element("button", { type: "button", class: "map", title, "aria-label": title || "the weights" }, canvas);
    button.addEventListener("click", () => this.choose(around, head));
    this.maps.push({ around, head, node, canvas, button });
    return button;
  }

  show(around, head) {
    for (const map of this.maps) {
      const isChosen = map.around === around && (map.head === head || !this.attentions.get(around).has(head));
      map.button.setAttribute("aria-pressed", String(isChosen));
    }
    const chosen = this.maps.find(({ button }) => button.getAttribute("aria-pressed") === "true") ?? this.maps[0];
    stopAtOnly(this.maps.map(({ button }) => button), chosen?.button);
    this.draw();
  }

  // Other weights in place of those of now, by their nodes; undefined: those of now.
  showInstead(weights) {
    this.instead = weights;
    this.draw();
  }

  draw() {
    for (const { node, canvas } of this.maps) {
      const cells = this.instead?.get(node) ?? node.cells;
      drawCells(canvas, (x, y) => cells[y * node.columns + x], { largest: 1 });
    }
  }
}

// --- the next words: the most probable ones behind the chosen word, as bars

const mostBars = 8;

class NextWords {
  // `predictions`: the logits of each place, the ids that are read, and whether a place predicts the next of these.
  // `take` is told that another word was chosen; `writeOn` that the most probable ones are to follow a place.
  constructor(box, computation, predictions, { take, writeOn }) {
    Object.assign(this, { box, computation, take, writeOn });
    this.predictions = predictions.map(({ logits, ids, next }) => ({
      logits: computation.nodes[logits],
      ids: ids === undefined ? undefined : computation.nodes[ids],
      next,
    }));
    this.settings = { temperature: 1, k: 0, p: 1 };
    this.title = element("p", { class: "title" });
    this.bars = element("ol", { class: "bars" });
    this.rest = element("button", { type: "button", class: "rest" }, "Go on with the most probable words");
    this.rest.addEventListener("click", () => this.writeOn(this.current, this.place));
    box.append(this.title, this.bars, this.controls(), this.rest);
    box.hidden = this.predictions.length === 0;
  }

  controls() {
    const one = (title, name, attributes, shown) => {
      const field = element("input", { type: "range", ...attributes, "aria-label": title });
      field.value = this.settings[name];
      const output = element("output", {}, shown(this.settings[name]));
      field.addEventListener("input", () => {
        this.settings[name] = Number(field.value);
        output.textContent = shown(this.settings[name]);
        field.setAttribute("aria-valuetext", shown(this.settings[name]));
        this.draw();
      });
      return element("label", {}, `${title} `, field, output);
    };
    return element(
      "div",
      { class: "controls" },
      one("temperature", "temperature", { min: 0.1, max: 3, step: 0.1 }, (x) => writtenFixed(x, 1)),
      one("top k", "k", { min: 0, max: 20, step: 1 }, (x) => (x === 0 ? "all" : String(x))),
      one("top p", "p", { min: 0.05, max: 1, step: 0.05 }, (x) => (x === 1 ? "all" : writtenFixed(x, 2))),
    );
  }

  // The prediction at a row of an axis.
  show(axis, place) {
    this.current = this.predictions.find(({ logits }) => logits.rowAxis.list === axis.list && place < logits.rows);
    this.place = place;
    this.box.classList.toggle("silent", !this.current);
    if (this.current) this.draw();
  }

  // Each word with its probability, the largest first: the words of top k and top p share the rest.
  ranked() {
    const { temperature, k, p } = this.settings;
    const logits = rowOf(this.current.logits, this.place);
    const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
    const exponentials = Array.from(logits, (x) => Math.exp((x - most) / temperature));
    const total = numbers.sum(exponentials);
    const all = exponentials
      .map((x, id) => ({ id, probability: x / total }))
      .sort((a, b) => b.probability - a.probability || a.id - b.id);
    let count = k === 0 ? all.length : Math.min(k, all.length);
    let sum = 0;
    for (let i = 0; i < count && p < 1; ++i) {
      sum += all[i].probability;
      if (sum >= p) count = i + 1;
    }
    const kept = all.slice(0, count);
    const rest = numbers.sum(kept.map(({ probability }) => probability));
    return kept.map(({ id, probability }) => ({ id, probability: probability / rest }));
  }

  draw() {
    if (!this.current) return;
    const { logits, ids, next } = this.current;
    const word = calledBy(logits.rowAxis, this.place, "place", "“", "”");
    this.title.textContent = next ? `Next word after ${word}` : `Predicted at ${word}`;
    const place = this.place + (next ? 1 : 0);
    const canTake = ids !== undefined && next && place < ids.rows;
    this.rest.hidden = !canTake;
    const ranked = this.ranked();
    const told = ranked.slice(0, mostBars).filter(({ probability }, i) => i === 0 || probability >= 0.0005);
    this.bars.replaceChildren(
      ...told.map(({ id, probability }) => {
        const text = labelOf(logits.columnAxis, id);
        const isThere = canTake && ids.cells[place] === id + 1;
        const bar = element(
          canTake ? "button" : "span",
          { class: "bar", type: canTake ? "button" : undefined, "aria-pressed": canTake ? String(isThere) : undefined },
          element("span", { class: "name" }, text),
          element("span", { class: "weight" }, `${writtenFixed(100 * probability, 1)} %`),
        );
        bar.style.setProperty("--weight", probability);
        if (canTake) bar.addEventListener("click", () => this.take(ids, place, id + 1));
        return element("li", {}, bar);
      }),
    );
  }
}
