// The question of a page, and its answer from the weights of now.

// “it”, or without words: query 2.
const called = (axis, i, noun) => calledBy(axis, i, noun, "“", "”");

// What a query attends to, from its weights: those that round to 0 % are not listed.
function answerFrom(node, query, weights, isAverage) {
  const keys = range(weights.length)
    .filter((j) => weights[j] > 0)
    .sort((a, b) => weights[b] - weights[a]);
  const name = called(node.rowAxis, query, "Query");
  const where = isAverage
    ? "This is the average of all heads: one head alone may attend to other words."
    : `This is its row in the table ${node.name}.`;
  const table = `in the table ${node.name}`;
  if (weights.some(Number.isNaN)) return `${name} has weights that are no numbers, ${table}.`;
  if (weights.some((weight) => weight < 0 || weight > 1 + 1e-9)) return `${name} has weights outside 0 to 1, ${table}.`;
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
