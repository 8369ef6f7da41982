// What a reader changes about a computation: numbers of its inputs, words, the divisor of the scores, and parts that
// are left out. Each change can be undone.

const titlesOfParts = {
  scale: "the scaling of the scores",
  mask: "the mask",
  positions: "the positional encoding",
};

class Changes {
  // `body` has the tables of the computation, and sentences that were written before. `parts`, `undo`, `redo` and
  // `reset` change it; `follow` is told in a sentence what was changed, and says so in `status` by tell().
  // `followers` says what has followed.
  constructor(computation, { body, parts, undo, redo, reset, status, follow, followers }) {
    Object.assign(this, { computation, body, parts, undo, redo, reset, status, follow, followers });
    this.done = []; // what was there before each change
    this.undone = [];
    computation.compareWithNow();
    this.offerParts();
    undo?.addEventListener("click", () => this.goBack(this.done, this.undone, "The last change is undone."));
    redo?.addEventListener("click", () => this.goBack(this.undone, this.done, "The change is made again."));
    reset.addEventListener("click", () => this.make("All changes are undone.", () => this.computation.reset()));
  }

  offerParts() {
    for (const part of this.computation.parts()) {
      const box = element("input", { type: "checkbox", value: part });
      box.addEventListener("change", () => {
        const title = titlesOfParts[part];
        const name = title[0].toUpperCase() + title.slice(1);
        const sentence = `${name} ${box.checked ? "is left out." : "is there again."}`;
        this.make(sentence, () => this.computation.leaveOut(part, box.checked));
      });
      this.parts.append(element("label", {}, box, ` ${titlesOfParts[part]}`));
    }
    this.parts.hidden = this.computation.parts().length === 0;
  }

  // Changes something, and says so; or says why it is not changed. Changes with the same `gesture`, such as a slider
  // that is moved, are undone together.
  make(sentence, act, gesture = undefined) {
    const before = this.computation.save();
    const complaint = this.computation.attempt(act);
    if (complaint) {
      this.follow(`Nothing was changed: this change ${complaint}. Give numbers of moderate size.`);
      return;
    }
    if (gesture === undefined || gesture !== this.gesture) this.keep(before);
    this.gesture = gesture;
    this.follow(sentence);
  }

  // Keeps a state, that of now, so that it can be come back to.
  keep(state = this.computation.save()) {
    this.done.push(state);
    this.undone = [];
    this.gesture = undefined;
  }

  endGesture() {
    this.gesture = undefined;
  }

  goBack(from, to, sentence) {
    if (from.length === 0) return;
    this.endGesture();
    to.push(this.computation.save());
    this.computation.restore(from.pop());
    this.follow(sentence);
  }

  // Takes what was typed into a cell.
  take(typed, cell) {
    const { node, row, column } = cell;
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const old = numbers.cell(node, row, column);
    const value = numberTyped(typed);
    const refusal = this.computation.refusal(node, value);
    if (refusal) {
      this.status.textContent = `“${typed}” ${refusal}. ${name} stays ${writtenShortest(old)}.`;
      return;
    }
    this.set(cell, value);
  }

  // Gives a cell another number.
  set({ node, row, column }, value, gesture = undefined) {
    const place = row * node.columns + column;
    const now = this.computation.changesOf(node).get(place) ?? node.given[place];
    if (sameNumber(value, now)) return;
    const name = `${node.name}[${row + 1},${column + 1}]`;
    const word = node.words === undefined ? "" : ` (${this.computation.wordOf(node, value)})`;
    const isLeftOut = this.computation.without.has(node.part);
    const sentence = `${name} is ${writtenShortest(value)}${word} now${isLeftOut ? ", and is left out" : ""}.`;
    this.make(sentence, () => this.computation.change(node, row, column, value), gesture);
  }

  // Says what was changed, when everything has followed.
  tell(sentence) {
    const { computation } = this;
    const isChanged = computation.isChanged();
    this.body.classList.toggle("is-changed", isChanged);
    const hadFocus = [this.undo, this.redo, this.reset].includes(document.activeElement);
    this.reset.disabled = !isChanged;
    if (this.undo) this.undo.disabled = this.done.length === 0;
    if (this.redo) this.redo.disabled = this.undone.length === 0;
    if (hadFocus) [document.activeElement, this.undo, this.redo, this.reset].find((button) => button && !button.disabled)?.focus();
    for (const box of this.parts.querySelectorAll("input")) box.checked = computation.without.has(box.value);
    this.status.textContent = `${sentence}${isChanged ? ` ${this.followers}` : ""}`;
  }
}
