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
    const old = numbers.cell(node, row, column);
    const value = numberTyped(typed);
    const refusal = this.computation.refusal(node, value);
    if (refusal) {
      this.status.textContent = `“${typed}” ${refusal}. ${name} stays ${writtenShortest(old)}.`;
      return;
    }
    if (sameNumber(value, old)) return;
    this.computation.change(node, row, column, value);
    this.follow(`${name} is ${writtenShortest(value)} now.`);
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
