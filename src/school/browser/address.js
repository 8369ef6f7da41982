// What a reader has chosen and changed, as the part of the address behind "#", and as a command line of attn.

class Address {
  // `data`: the words of the command line, and what else of it may be told anew.
  constructor(computation, data) {
    Object.assign(this, { computation, data });
  }

  // `choices`: what is chosen, by name; what is not chosen is undefined.
  written(choices) {
    const { changes, without, names, divisor } = this.computation.save();
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(choices)) if (value !== undefined) parts.append(name, value);
    for (const [node, places] of changes)
      for (const [place, value] of places) parts.append("set", `${this.nameOf(node, place)}=${writtenShortest(value)}`);
    for (const part of without) parts.append("without", part);
    for (const [list, words] of names) for (const [place, word] of words) parts.append("name", `${list},${place + 1},${word}`);
    if (divisor !== undefined) parts.append("divisor", writtenShortest(divisor));
    return parts.toString();
  }

  nameOf(node, place) {
    return `${node.name}[${Math.floor(place / node.columns) + 1},${(place % node.columns) + 1}]`;
  }

  // Changes the computation as an address says, and returns its choices by name. Others have written it: what the
  // page does not have is told in `refused`, what makes numbers beyond double precision in `excessive`, and the rest
  // holds.
  read(text) {
    const kinds = { set: this.set, name: this.rename, without: this.leaveOut, divisor: this.divide };
    const choices = {};
    const refused = [];
    const asked = []; // what changes something, and how it was written
    for (const [name, value] of new URLSearchParams(text)) {
      if (!Object.hasOwn(kinds, name)) {
        choices[name] = value;
        continue;
      }
      const act = kinds[name].call(this, value);
      if (act) asked.push({ value, act });
      else refused.push(value);
    }
    return { choices, refused, excessive: this.change(asked) };
  }

  // Makes all changes together, or where their numbers are beyond double precision one after the other without those
  // that make them so, which it returns.
  change(asked) {
    const { computation } = this;
    if (!computation.attempt(() => asked.forEach(({ act }) => act()))) return [];
    return asked.filter(({ act }) => computation.attempt(act)).map(({ value }) => value);
  }

  // What each of these changes, as a function; undefined where the page has no such thing.
  set(text) {
    const [, name, row, column, typed] = /^(.+)\[(\d+),(\d+)\]=(.+)$/.exec(text) ?? [];
    const node = this.computation.byName.get(name);
    if (!node || node.operation) return undefined;
    const [i, j, value] = [row - 1, column - 1, numberTyped(typed)];
    const isWithin = i >= 0 && j >= 0 && i < node.rows && j < node.columns;
    if (!isWithin || this.computation.refusal(node, value)) return undefined;
    return () => this.computation.change(node, i, j, value);
  }

  rename(text) {
    const [, list, place, word] = /^(\d+),(\d+),(.+)$/.exec(text) ?? [];
    const { lists, nodes } = this.computation;
    if (lists[list]?.[place - 1] === undefined) return undefined;
    // Words that stand for ids are not only names.
    const isOfIds = ({ words, rowAxis }) => words !== undefined && (words === Number(list) || rowAxis.list === Number(list));
    if (nodes.some(isOfIds)) return undefined;
    return () => this.computation.rename(Number(list), place - 1, word);
  }

  leaveOut(part) {
    return this.computation.parts().includes(part) ? () => this.computation.leaveOut(part, true) : undefined;
  }

  divide(text) {
    const divisor = numberTyped(text);
    if (!(divisor > 0 && Number.isFinite(divisor)) || this.computation.scaledNodes().length === 0) return undefined;
    return () => this.computation.divideBy(divisor);
  }

  // A sentence as a line gives it, without what is put around its words; undefined where that is another word now.
  told({ ids, first, last }) {
    const node = this.computation.nodes[ids];
    const words = Array.from(node.cells, (id) => this.computation.wordOf(node, id));
    if (first && words.shift() !== first) return undefined;
    if (last && words.pop() !== last) return undefined;
    return words.join(" ");
  }

  // The command line that computes what stands here; undefined where none does.
  command() {
    const { computation, data } = this;
    const { changes, without, divisor } = computation.save();
    let words = [...data.line];
    const leaveOut = (option) => {
      const at = words.indexOf(option);
      if (at >= 0) words.splice(at, 2);
      words = words.filter((word) => !word.startsWith(`${option}=`));
    };
    // Where a word is another one, all sentences are told: a model would write others itself.
    const ids = [...changes.keys()].filter(({ content }) => content === "ids");
    for (const { options, ...sentence } of ids.length > 0 ? data.sentences : []) {
      const told = this.told(sentence);
      if (told === undefined) return undefined;
      for (const option of options) leaveOut(option);
      words.push(options[0], told);
    }
    if (ids.some(({ index }) => !data.sentences.some((sentence) => sentence.ids === index))) return undefined;
    const settings = [];
    for (const [node, places] of changes) {
      if (node.content === "ids") continue;
      for (const [place, value] of places) settings.push(`${this.nameOf(node, place)}=${writtenShortest(value)}`);
    }
    if (divisor !== undefined) {
      if (!data.scale) return undefined;
      leaveOut(data.scale);
      words.push(data.scale, writtenShortest(divisor));
    }
    for (const setting of settings) words.push("--set", setting);
    for (const part of without) words.push("--without", part);
    const isChanged = settings.length > 0 || without.size > 0;
    if (isChanged && !data.takes_changes) return undefined;
    if (isChanged) words.unshift("what-if");
    return `attn ${words.map(shellWord).join(" ")}`;
  }
}

// A word as a shell reads it.
const shellWord = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
