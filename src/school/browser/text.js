// All steps as text, with their tables, which join those of `grids` when they are first shown.
class TextOfSteps {
  constructor(box, { grids, changes, precision }) {
    Object.assign(this, { box, grids, changes, precision });
    this.tables = [];
    box.hidden = true;
  }

  // Its tables join the others; the contents lead to a step, and the address stays.
  become() {
    if (this.tables.length > 0) return;
    this.tables = this.grids.liveTables(this.changes, this.precision, this.box);
    this.grids.add(this.tables);
    if (this.changes.computation.isChanged()) for (const table of this.tables) table.rewrite();
    for (const link of this.box.querySelectorAll("#contents a"))
      link.addEventListener("click", (event) => {
        event.preventDefault();
        document.querySelector(link.getAttribute("href")).scrollIntoView();
      });
  }

  has(node) {
    return this.tables.some((table) => original(table.node) === original(node));
  }
}
