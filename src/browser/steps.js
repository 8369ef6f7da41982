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
