// The operations. Each says how one cell of its result is made of cells of its operands: worked out with
// `numbers` it is the result, and kept with `trees` it is the explanation (expressions.js). Rows and columns
// count from 0 here, and from 1 in what is shown. A test compares each of them, cell by cell, with what attn
// computes and explains: src/op/ has the same operations in C++, with the texts they come from.

const range = (count) => Array.from({ length: count }, (_, i) => i);
const rowOf = (node, row) => node.cells.subarray(row * node.columns, (row + 1) * node.columns);
const placeOfLargest = (row) => row.reduce((best, value, j) => (value > row[best] ? j : best), 0);

const cellByCell = (combine) => (make, node, i, j) => {
  const [x, y] = node.operands;
  return combine(make, make.cell(x, i, j), make.cell(y, y.rows === 1 ? 0 : i, y.columns === 1 ? 0 : j));
};

const byNumber = (combine) => (make, node, i, j) => {
  const { number, notation } = node.attributes;
  return combine(make, make.cell(node.operands[0], i, j), make.number(number, notation));
};

const ofCell = (expression) => (make, node, i, j) => expression(make, make.cell(node.operands[0], i, j));

// Where the allowed are 0 stands another number.
const replacement = (fillOfRow) => (make, node, i, j) => {
  const [x, allowed] = node.operands;
  const { fill, row_noun, column_noun } = node.attributes;
  const row = `${row_noun} ${labelOf(x.rowAxis, i)}`;
  const column = `${column_noun} ${labelOf(x.columnAxis, j)}`;
  if (numbers.cell(allowed, i, j) !== 0) {
    make.because(() => `${column} is not masked for ${row}, so the score stays`);
    return make.cell(x, i, j);
  }
  const ofRow = fillOfRow(rowOf(allowed, i), fill);
  if (ofRow !== fill) {
    make.because(
      () => `every ${column_noun} is masked for ${row}: ${writtenShortest(ofRow)} replaces the scores`,
    );
  } else {
    make.because(() => `${column} is masked for ${row}: ${writtenShortest(fill)} replaces the score`);
  }
  return make.number(ofRow, writtenShortest(ofRow));
};

const rootOf = (make, x, epsilon) => {
  if (epsilon !== 0) make.because(() => `${writtenShortest(epsilon)} avoids a division by 0`);
  return make.call("√", epsilon === 0 ? x : make.sum([x, make.number(epsilon)]));
};

// i / base^(2f/d), for the position i, which counts from 0, and the frequency f.
const angle = (make, attributes, i, frequency, size) => {
  const { first, base } = attributes;
  make.because(() => "the first position counts as 0");
  const divisor = make.number(
    base ** ((2 * frequency) / size),
    `${writtenShortest(base)}^(${2 * frequency}/${size})`,
  );
  return make.quotient(make.number(first + i), divisor);
};

const operations = {
  identity: (make, node, i, j) => make.cell(node.operands[0], i, j),

  // --- products

  matmul: (make, node, i, j) => {
    const [a, b] = node.operands;
    return make.total(b.rows, (k) => make.product([make.cell(a, i, k), make.cell(b, k, j)]));
  },
  matmul_transposed: (make, node, i, j) => {
    const [a, b] = node.operands;
    return make.total(a.columns, (k) => make.product([make.cell(a, i, k), make.cell(b, j, k)]));
  },

  transposed_matmul: (make, node, i, j) => {
    const [a, b] = node.operands;
    return make.total(a.rows, (k) => make.product([make.cell(a, k, i), make.cell(b, k, j)]));
  },

  // --- cell by cell: of two matrices, of a matrix and a number, and functions of one number

  add: cellByCell((make, x, y) => make.sum([x, y])),
  subtract: cellByCell((make, x, y) => make.difference(x, y)),
  multiply: cellByCell((make, x, y) => make.product([x, y])),
  divide: byNumber((make, x, divisor) => make.quotient(x, divisor)),
  times: byNumber((make, x, factor) => make.product([x, factor])),
  tanh: ofCell((make, x) => make.call("tanh", x)),
  sigmoid: ofCell((make, x) => make.call("sigmoid", x)),
  relu: ofCell((make, x) => make.call("ReLU", x)),
  silu: ofCell((make, x) => make.product([x, make.call("sigmoid", x)])),
  gelu: ofCell((make, x) => {
    const bent = make.call("erf", make.quotient(x, make.number(Math.SQRT2, "√2")));
    return make.product([make.number(0.5), x, make.sum([make.number(1), bent])]);
  }),
  gelu_tanh: ofCell((make, x) => {
    const cube = make.product([make.number(0.044715, "0.044715"), x, x, x]);
    const slope = make.number(Math.sqrt(2 / Math.PI), "√(2/π)");
    const bent = make.call("tanh", make.product([slope, make.sum([x, cube])]));
    return make.product([make.number(0.5), x, make.sum([make.number(1), bent])]);
  }),

  // --- masks: a row in which nothing is allowed is −∞ for the softmax, whatever the number is

  mask: replacement((allowed, fill) => (allowed.every((cell) => cell === 0) ? -Infinity : fill)),
  replace: replacement((allowed, fill) => fill),

  // --- weights from scores

  softmax: (make, node, i, j) => {
    const [scores] = node.operands;
    const row = rowOf(scores, i);
    const largest = placeOfLargest(row);
    if (row[largest] === -Infinity) {
      make.because(() => `every number of row ${labelOf(scores.rowAxis, i)} is −∞, so its weights are 0`);
      return make.number(0);
    }
    if (row[j] === -Infinity) {
      make.because(() => "its score is −∞, and exp(−∞) = 0");
      return make.number(0);
    }
    make.because(
      () =>
        `${scores.title}[${i + 1},${largest + 1}], the largest score of the row, is subtracted first: the ` +
        "weights stay the same, and exp cannot overflow",
    );
    const term = (k) =>
      make.call("exp", make.difference(make.cell(scores, i, k), make.cell(scores, i, largest)));
    const isCounted = (k) => row[k] !== -Infinity; // exp(−∞) is 0
    return make.quotient(term(j), make.sum(range(scores.columns).filter(isCounted).map(term)));
  },
  normalize: (make, node, i, j) => {
    const [x] = node.operands;
    if (numbers.sum(rowOf(x, i)) === 0) {
      make.because(() => "the row's sum is 0, and nothing can be divided by 0");
      return make.number(0);
    }
    return make.quotient(
      make.cell(x, i, j),
      make.total(x.columns, (k) => make.cell(x, i, k)),
    );
  },
  uniform: (make, node) => {
    make.because(() => "every column counts the same, whatever the scores are");
    return make.quotient(make.number(1), make.number(node.columns));
  },
  largest: (make, node, i, j) => {
    const [x] = node.operands;
    const largest = placeOfLargest(rowOf(x, i));
    make.because(() => `the largest of row ${i + 1} is ${x.title}[${i + 1},${largest + 1}]`);
    return make.number(largest === j ? 1 : 0);
  },

  // --- whole rows: their means, lengths and norms

  row_means: (make, node, i) => {
    const [x] = node.operands;
    return make.quotient(
      make.total(x.columns, (k) => make.cell(x, i, k)),
      make.number(x.columns),
    );
  },
  row_variances: (make, node, i) => {
    const [x, means] = node.operands;
    const distance = (k) => make.difference(make.cell(x, i, k), make.cell(means, i, 0));
    const squares = make.total(x.columns, (k) => make.square(distance(k)));
    return make.quotient(squares, make.number(x.columns));
  },
  standardize: (make, node, i, j) => {
    const [x, means, variances] = node.operands;
    const distance = make.difference(make.cell(x, i, j), make.cell(means, i, 0));
    return make.quotient(distance, rootOf(make, make.cell(variances, i, 0), node.attributes.epsilon));
  },
  divide_by_root_mean_square: (make, node, i, j) => {
    const [x] = node.operands;
    const squares = make.total(x.columns, (k) => make.square(make.cell(x, i, k)));
    const mean = make.quotient(squares, make.number(x.columns));
    return make.quotient(make.cell(x, i, j), rootOf(make, mean, node.attributes.epsilon));
  },
  half_squared_norms: (make, node, i) => {
    const [x] = node.operands;
    return make.quotient(
      make.total(x.columns, (k) => make.square(make.cell(x, i, k))),
      make.number(2),
    );
  },
  unit_rows: (make, node, i, j) => {
    const [x] = node.operands;
    const row = rowOf(x, i);
    if (row.every((value) => value === 0)) {
      make.because(() => "the row has length 0 and stays");
      return make.cell(x, i, j);
    }
    const exponent = exponentOf(row);
    const scaled = (k) => {
      const cell = make.cell(x, i, k);
      return exponent === 0 ? cell : make.quotient(cell, make.number(2 ** exponent));
    };
    make.because(() =>
      exponent === 0
        ? "the divisor is the length of the row"
        : `every number of the row is divided by 2^${exponent} first, which changes no direction: the squares ` +
          `would be too ${exponent > 0 ? "large" : "small"} for double precision`,
    );
    return make.quotient(
      scaled(j),
      make.call(
        "√",
        make.total(x.columns, (k) => make.square(scaled(k))),
      ),
    );
  },

  // --- pairs of a row of one matrix and a row of another: pair (i, j) is row i·n + j

  minus_half_squared_distances: (make, node, i, j) => {
    const [a, b] = node.operands;
    const distance = (k) => make.difference(make.cell(a, i, k), make.cell(b, j, k));
    const square = (k) => make.square(distance(k));
    return make.product([make.number(-0.5, "−½"), a.columns === 1 ? square(0) : make.total(a.columns, square)]);
  },
  pairwise_sum: (make, node, pair, j) => {
    const [a, b] = node.operands;
    return make.sum([make.cell(a, Math.floor(pair / b.rows), j), make.cell(b, pair % b.rows, j)]);
  },
  pairs: (make, node, pair, j) => {
    const [a, b] = node.operands;
    if (j < a.columns) return make.cell(a, Math.floor(pair / b.rows), j);
    return make.cell(b, pair % b.rows, j - a.columns);
  },
  unpair: (make, node, i, j) => make.cell(node.operands[0], i * node.columns + j, 0),

  // --- numbers at other places

  transpose: (make, node, i, j) => make.cell(node.operands[0], j, i),
  labelled: (make, node, i, j) => {
    const [x] = node.operands;
    make.because(() => copiedFrom(x, i, j));
    return make.cell(x, i, j);
  },
  rows: (make, node, i, j) => make.cell(node.operands[0], node.attributes.first + i, j),
  columns: (make, node, i, j) => make.cell(node.operands[0], i, node.attributes.first + j),
  concatenate: (make, node, i, j) => {
    for (const part of node.operands) {
      if (j < part.columns) return make.cell(part, i, j);
      j -= part.columns;
    }
  },
  stack: (make, node, i, j) => {
    for (const part of node.operands) {
      if (i < part.rows) return make.cell(part, i, j);
      i -= part.rows;
    }
  },

  // --- rows of a table, by number

  embed: (make, node, i, j) => {
    const [ids, table] = node.operands;
    const id = numbers.cell(ids, i, 0);
    make.because(
      () => `the id of ${labelOf(ids.rowAxis, i)} is ${id}: its vector is row ${id} of ${table.title}`,
    );
    return make.cell(table, id - 1, j);
  },
  one_hot: (make, node, i, j) => {
    const [ids] = node.operands;
    const id = numbers.cell(ids, i, 0);
    make.because(() => `the id of ${labelOf(ids.rowAxis, i)} is ${id}: only column ${id} of its row is 1`);
    return make.number(id - 1 === j ? 1 : 0);
  },

  // --- positions

  by_distance: (make, node, i, j) => {
    const [table] = node.operands;
    const most = (table.columns - 1) / 2;
    const distance = j - i;
    const counted = Math.max(-most, Math.min(most, distance));
    make.because(
      () =>
        `the distance from position ${i + 1} to position ${j + 1} is ${distance}` +
        (counted === distance ? "" : `, and counts as ${counted}`),
    );
    return make.cell(table, table.rows === 1 ? 0 : i, counted + most);
  },
  sinusoid: (make, node, i, j) => {
    const { frequencies, is_sine } = node.attributes;
    const wave = is_sine[j] ? "sin" : "cos";
    return make.call(wave, angle(make, node.attributes, i, frequencies[j], node.columns));
  },
  rotate: (make, node, i, j) => {
    const [x] = node.operands;
    const pair = Math.floor(j / 2);
    const turned = (beside, wave) =>
      make.product([
        make.cell(x, i, 2 * pair + beside),
        make.call(wave, angle(make, node.attributes, i, pair, x.columns)),
      ]);
    if (j % 2 === 0) return make.difference(turned(0, "cos"), turned(1, "sin"));
    return make.sum([turned(0, "sin"), turned(1, "cos")]);
  },
};

// The power of two by which a row is divided so that the squares of its numbers can be added up.
function exponentOf(row) {
  const squares = row.reduce((sum, value) => sum + value * value, 0);
  const smallestNormal = 2.2250738585072014e-308;
  if (squares >= smallestNormal && squares < Infinity) return 0;
  const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return largest === 0 || largest === Infinity ? 0 : Math.floor(Math.log2(largest));
}

// A number that went through nodes without a name was copied from the first one that has a name.
function copiedFrom(node, row, column) {
  while (!node.name) {
    const from = operations[node.operation](makeTrees(), node, row, column);
    if (from.kind !== "cell") return "";
    ({ node, row, column } = from);
  }
  return `copied from ${node.name}[${row + 1},${column + 1}]`;
}
