// As in the rules of the page: whether all bands, and an explanation beside them, are in view.
const hasRoomForAll = matchMedia("(min-width: 64rem) and (min-height: 38rem)");

// The page: its three bands, what the reader chooses, changes and is told.

class PageOfComputation {
  constructor(data) {
    this.data = data;
    this.computation = new Computation(data.computation);
    this.computation.compute();
    this.nodes = this.computation.nodes;
    byId("live").hidden = false;
    document.documentElement.classList.add("is-live");
    byId("live").append(byId("text"));
    this.changes = new Changes(this.computation, {
      body: document.body,
      parts: byId("parts"),
      undo: byId("undo"),
      redo: byId("redo"),
      reset: byId("reset"),
      status: byId("changed"),
      follow: (sentence) => this.follow(sentence),
      followers: "Sentences in the text of all steps were written before.",
    });
    this.grids = new Grids([this.changes], {
      precision: data.precision,
      reveal: (node) => this.reveal(node),
      beginsEmpty: true,
    });
    const { grids, changes } = this;
    this.matrices = new Matrices(byId("matrices"), { grids, changes, precision: data.precision });
    this.text = new TextOfSteps(byId("text"), { grids, changes, precision: data.precision });
    this.address = new Address(this.computation, data);
    this.bands();
    this.tellAgreement();
    this.offerChoices();
    this.offerDivisor();
    this.listen();
    this.begin();
  }

  bands() {
    this.weights = this.nodes.filter((node) => node.attention);
    this.attentions = new Map();
    for (const node of this.weights) {
      const around = node.around ?? "";
      if (!this.attentions.has(around)) this.attentions.set(around, new Map());
      this.attentions.get(around).set(String(node.head ?? ""), node);
    }
    this.sentence = new Sentence(byId("sentence"), this.computation, this.data.given, {
      choose: (query) => this.chooseWord(query),
      setWord: (axis, ids, place, word) => this.setWord(axis, ids, place, word),
    });
    this.maps = new Maps(byId("maps"), this.attentions, Boolean(this.data.training), {
      choose: (around, head) => this.chooseHead(around, head),
      titleOf: (around) => this.titleOf(around),
    });
    this.nextWords = new NextWords(byId("next-words"), this.computation, this.data.predictions ?? [], {
      take: (ids, place, id) => this.changes.set({ node: ids, row: place, column: 0 }, id),
      writeOn: (prediction, place) => this.writeOn(prediction, place),
    });
    this.training = new Training(byId("training"), this.data.training, this.computation, {
      showMaps: (weights) => this.maps.showInstead(weights),
    });
    this.flow = new Flow(byId("flow-band"), this.computation, {
      choose: (node) => this.chooseNode(node),
      titleOfBlock: (block) => block.replace(/\.$/, "") || this.data.title,
    });
  }

  // --- what holds of the whole page

  tellAgreement() {
    tellAgreement(byId("agreement"), [this.computation]);
  }

  // Everything follows a change.
  follow(sentence) {
    this.grids.refresh(this.changes);
    this.matrices.refresh();
    this.flow.draw();
    this.training.follow(this.computation.isChanged());
    this.maps.draw();
    this.tellFormula();
    if (this.weights.length > 0) this.offerWords(this.word.selectedIndex);
    this.showWord();
    this.showDivisor();
    this.changes.tell(sentence);
    this.tellMoved();
    this.keepAddress();
  }

  tellMoved() {
    this.moved = this.computation.moved();
    const count = this.moved.reduce((sum, one) => sum + one.count, 0);
    byId("followed").hidden = count === 0;
    const numbersOf = count === 1 ? "1 number" : `${count.toLocaleString("en")} numbers`;
    const matrices = this.moved.length === 1 ? "1 matrix" : `${this.moved.length} matrices`;
    byId("moved").textContent = `${numbersOf} followed, in ${matrices}`;
  }

  // The next matrix that moved: there the number that moved most.
  showNextMoved() {
    const at = this.moved.findIndex(({ node }) => node === (this.shownMoved ?? this.matrices.node));
    const { node, most } = this.moved[(at + 1) % this.moved.length];
    this.shownMoved = node;
    this.grids.goTo({ node, row: Math.floor(most / node.columns), column: most % node.columns });
  }

  // --- choices: an attention, a head, a word, a node

  titleOf(around) {
    const [node] = this.attentions.get(around).values();
    const word = node.rows === 1 && node.rowAxis.labels ? ` (${node.rowAxis.labels[0]})` : "";
    return around.replace(/\.$/, "") + word;
  }

  offerChoices() {
    for (const name of ["attention", "head", "word"]) this[name] = byId(`choose-${name}`).querySelector("select");
    const all = [...this.attentions.keys()];
    fill(this.attention, all.map((around) => this.titleOf(around)), all);
    byId("choose-attention").hidden = all.length < 2;
    byId("choose-head").hidden = byId("choose-word").hidden = byId("show-lines").hidden = true;
    byId("sentence-band").hidden = this.weights.length === 0;
    const asked = this.nodes[this.data.question.weights];
    if (!asked) return;
    byId("show-lines").hidden = asked.rows < 2;
    this.attention.value = asked.around ?? "";
    this.offerHeads(String(asked.head ?? ""));
    this.offerWords(this.data.question.query);
  }

  offerHeads(chosen) {
    const heads = [...(this.attentions.get(this.attention.value)?.keys() ?? [])];
    const titles = heads.length > 1 ? [...heads, "average"] : heads;
    fill(this.head, titles, titles);
    this.head.value = titles.includes(chosen) ? chosen : heads[0];
    byId("choose-head").hidden = heads.length < 2;
  }

  offerWords(chosen) {
    const [{ rowAxis, rows }] = this.chosenWeights();
    const titles = range(rows).map((i) => (rowAxis.labels ? `${i + 1} ${rowAxis.labels[i]}` : `${i + 1}`));
    fill(this.word, titles);
    this.word.selectedIndex = Math.max(0, Math.min(chosen, rows - 1));
    byId("choose-word").hidden = rows < 2;
  }

  // The weights of the chosen head, or of all heads for their average.
  chosenWeights() {
    const heads = this.attentions.get(this.attention.value);
    return heads.has(this.head.value) ? [heads.get(this.head.value)] : [...heads.values()];
  }

  chooseHead(around, head) {
    this.attention.value = around;
    this.offerHeads(head);
    this.offerWords(this.word.selectedIndex);
    this.showWord();
    const [node] = this.chosenWeights();
    this.chooseNode(node);
  }

  chooseWord(query) {
    this.word.selectedIndex = query;
    this.showWord();
    this.showNode(this.node);
    this.showCellOfWord();
    this.keepAddress();
  }

  chooseNode(node) {
    this.followNode(node);
    this.showNode(node);
    this.matrices.show(node);
    this.markRows();
    this.showText(false);
    this.showCellOfWord();
    this.tellFormula();
    this.keepAddress();
  }

  // The attention and the head that a node belongs to are chosen with it.
  followNode({ around = "", head }) {
    if (!this.attentions.has(around)) return;
    const isOtherHead = head !== undefined && this.head.value !== String(head) && this.head.value !== "average";
    if (this.attention.value === around && !isOtherHead) return;
    this.attention.value = around;
    this.offerHeads(isOtherHead ? String(head) : this.head.value);
    this.offerWords(this.word.selectedIndex);
    this.showWord();
  }

  showNode(node) {
    this.node = original(node);
    this.flow.show(this.node, { head: this.weights.length > 0 ? this.head.value : undefined, rowFor: (one) => this.rowFor(one) });
    byId("previous").disabled = this.node === this.flow.order[0];
    byId("next").disabled = this.node === this.flow.order.at(-1);
  }

  // The row of a node that belongs to the chosen word; of other words the first one.
  rowFor(node) {
    if (this.weights.length === 0) return 0;
    const [{ rowAxis, rows }] = this.chosenWeights();
    const isOfQueries = node.rowAxis.list === rowAxis.list && node.rows === rows;
    return isOfQueries ? Math.max(0, this.word.selectedIndex) : 0;
  }

  // How a number of the chosen word was made stands beside its matrix, where there is room for both: of weights, the
  // largest one.
  showCellOfWord() {
    const { node } = this;
    if (!hasRoomForAll.matches) return this.grids.explanation.close();
    const row = this.rowFor(node);
    const column = node.content === "weights" ? placeOfLargest(node, row + 1) - 1 : 0;
    this.grids.isPinned = false;
    this.grids.explanation.show({ node, row, column }, false);
    this.matrices.stopAtLit({ row, column });
  }

  tellFormula() {
    const { node } = this;
    if (!node) return;
    const { without, divisor } = this.computation;
    const formula = node.formula ?? `${node.name} ${node.origin ?? "is given"}`;
    const given = node.attributesGiven?.number_notation;
    const isDivided = divisor !== undefined && given !== undefined && formula.endsWith(` / ${given}`);
    byId("formula").textContent = without.has(node.part)
      ? `${node.name}: ${titlesOfParts[node.part]} is left out`
      : isDivided
        ? formula.slice(0, -given.length) + node.attributes.number_notation
        : formula;
  }

  // Shows the table of a node where it is not to be seen: in the text if this is shown and has it.
  reveal(node) {
    if (!byId("text").hidden && this.text.has(node)) return;
    if (!this.matrices.has(node)) this.chooseNode(node);
    this.showText(false);
  }

  showText(isShown) {
    if (byId("text").hidden !== isShown) return;
    if (isShown) {
      this.play(false);
      this.text.become();
    }
    byId("text").hidden = !isShown;
    byId("matrices-band").hidden = isShown;
    byId("all-steps").setAttribute("aria-pressed", String(isShown));
  }

  // --- the question, its answer, and the words

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
    byId("answer").textContent = answerFrom(first, query, weights, chosen.length > 1);
    this.sentence.show(chosen, query);
    this.maps.show(this.attention.value, this.head.value);
    this.nextWords.show(first.rowAxis, query);
    this.markRows();
  }

  // The row of the chosen word, in the weights and in all tables with a row for each of these words.
  markRows() {
    if (this.weights.length === 0) return;
    const chosen = this.chosenWeights();
    const [{ rowAxis }] = chosen;
    for (const { node, heads } of this.grids.tables) {
      const isNear = chosen.includes(node) || (rowAxis.labels && node.rowAxis.labels === rowAxis.labels && !this.weights.includes(node));
      heads.rows.forEach((head, i) => head?.classList.toggle("asked", Boolean(isNear) && i === this.word.selectedIndex));
    }
  }

  // Another word: by its id where words have ids, otherwise only its name. Returns whether it was taken.
  setWord(axis, ids, place, word) {
    if (!ids) {
      const sentence = `“${word}” is a name here: the numbers of its row stay.`;
      this.changes.make(sentence, () => this.computation.rename(axis.list, place, word));
      return true;
    }
    const id = this.computation.lists[ids.words].indexOf(word) + 1;
    if (id === 0) {
      byId("changed").textContent = `“${word}” is not in the vocabulary of this model.`;
      return false;
    }
    this.changes.set({ node: ids, row: place, column: 0 }, id);
    return true;
  }

  // From a place on, each word becomes the most probable one behind those before it.
  writeOn({ logits, ids }, from) {
    this.changes.make("The words are the most probable ones from here on.", () => {
      for (let place = from; place + 1 < ids.rows; ++place)
        this.computation.change(ids, place + 1, 0, placeOfLargest(logits, place + 1));
    });
  }

  // --- the divisor of the scores

  offerDivisor() {
    const [scaled] = this.computation.scaledNodes();
    byId("divisor").hidden = !scaled;
    if (!scaled) return;
    const field = byId("divisor").querySelector("input");
    // Equal steps of the slider are equal factors: from a tenth of what is given to ten times as much.
    const given = this.computation.scaleOf(scaled).number;
    const divisorAt = (place) => Number((given * 10 ** (2 * place - 1)).toPrecision(3));
    const placeOf = (divisor) => (Math.log10(divisor / given) + 1) / 2;
    this.placeOfDivisor = placeOf;
    field.addEventListener("input", () => {
      const isGiven = Math.abs(Number(field.value) - 0.5) < 0.01;
      const divisor = isGiven ? undefined : divisorAt(Number(field.value));
      const sentence = `Scores are divided by ${writtenShortest(divisor ?? given)} now.`;
      this.changes.make(sentence, () => this.computation.divideBy(divisor), "divisor");
    });
    field.addEventListener("change", () => this.changes.endGesture());
    this.showDivisor();
  }

  showDivisor() {
    const [scaled] = this.computation.scaledNodes();
    if (!scaled) return;
    const { number, number_notation } = scaled.attributes;
    const field = byId("divisor").querySelector("input");
    if (document.activeElement !== field) field.value = this.placeOfDivisor(number);
    field.setAttribute("aria-valuetext", number_notation);
    byId("divisor").querySelector("output").textContent = number_notation;
    field.disabled = this.computation.without.has("scale");
  }

  // --- the address

  keepAddress() {
    const isChosen = this.weights.length > 0;
    const text = this.address.written({
      attention: isChosen && this.attentions.size > 1 ? this.attention.value : undefined,
      head: isChosen && this.head.options.length > 1 ? this.head.value : undefined,
      word: isChosen ? this.word.selectedIndex + 1 : undefined,
      at: this.node?.name,
    });
    if (text !== this.addressed) history.replaceState(null, "", `#${text}`);
    this.addressed = text;
  }

  // Begins with what the address says, or with the weights that are asked about.
  begin() {
    const refusal = this.choose(this.address.read(location.hash.slice(1)));
    if (refusal || this.computation.isChanged()) this.follow(refusal || "The changes of the address are made.");
  }

  // What an address says; where it says nothing, the weights that are asked about. Returns what it asks for in vain.
  choose({ choices, refused, excessive }) {
    this.addressed = location.hash.slice(1);
    const { weights, query } = this.data.question;
    if (this.weights.length > 0) {
      const asked = this.nodes[weights];
      this.attention.value = this.attentions.has(choices.attention) ? choices.attention : (asked.around ?? "");
      this.offerHeads(choices.head ?? String(asked.head ?? ""));
      const word = Number.parseInt(choices.word, 10) - 1;
      this.offerWords(word >= 0 ? word : query);
    }
    const asked = this.weights.length > 0 ? this.chosenWeights()[0] : this.flow.order.at(-1);
    const at = this.computation.byName.get(choices.at) ?? asked;
    this.showWord();
    if (at) this.chooseNode(at);
    const sentences = [];
    if (refused.length > 0) sentences.push(`The address asks for what this page does not have: ${refused.join(", ")}.`);
    if (excessive.length > 0)
      sentences.push(`With these changes of the address, numbers would be beyond double precision: ${excessive.join(", ")}.`);
    return sentences.join(" ");
  }

  // --- what is pressed

  listen() {
    const chooses = (select, act) => select.addEventListener("change", act);
    chooses(this.attention, () => this.chooseHead(this.attention.value, this.head.value));
    chooses(this.head, () => this.chooseHead(this.attention.value, this.head.value));
    chooses(this.word, () => this.chooseWord(this.word.selectedIndex));
    const pressed = (id, act) => byId(id).addEventListener("click", act);
    pressed("previous", () => this.flow.move(-1));
    pressed("next", () => this.flow.move(1));
    pressed("play", () => this.play(byId("play").getAttribute("aria-pressed") !== "true"));
    pressed("all-steps", () => this.showText(byId("text").hidden));
    pressed("next-moved", () => this.showNextMoved());
    const isChecked = (box, act) => box.addEventListener("change", () => act(box.checked));
    isChecked(byId("show-lines").querySelector("input"), (isShown) => this.sentence.showAll(isShown));
    isChecked(byId("compare"), (isComparing) => this.matrices.compare(isComparing));
    isChecked(byId("cover"), (isCovering) => {
      this.matrices.cover(isCovering);
      this.grids.explanation.refresh();
    });
    pressed("keep", () => {
      this.computation.compareWithNow();
      this.follow("Changes are compared with the state of now.");
    });
    pressed("link", () => this.copy(location.href));
    pressed("command", () => {
      const command = this.address.command();
      const remark = this.computation.names.size > 0 ? " It has the words as they were given." : "";
      if (command) this.copy(command, remark);
      else byId("copied").textContent = "No command of attn makes these changes.";
    });
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.addressed) return;
      this.changes.keep();
      this.computation.reset();
      this.follow(this.choose(this.address.read(location.hash.slice(1))) || "The page is as the address says.");
    });
    addEventListener("beforeprint", () => this.text.become());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.maps.draw();
      this.flow.draw();
      this.matrices.refresh();
    });
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest("input, select, textarea")) return;
      const button = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
      if (!button) return;
      event.preventDefault();
      byId(button).click();
    });
  }

  play(isPlaying) {
    byId("play").setAttribute("aria-pressed", String(isPlaying));
    byId("play").textContent = isPlaying ? "Pause" : "Play";
    this.flow.play(isPlaying, () => this.play(false));
  }

  // To the clipboard; where there is none, it stands there to be copied by hand.
  async copy(text, remark = "") {
    try {
      await navigator.clipboard.writeText(text);
      byId("copied").textContent = `Copied: ${text}${remark}`;
    } catch {
      byId("copied").textContent = text + remark;
    }
  }
}

const page = new PageOfComputation(JSON.parse(byId("data").textContent));
