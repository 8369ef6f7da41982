// The operations. Each says how one cell of its result is made of cells of its operands: worked out with
// `numbers` it is the result, and kept with `trees` it is the explanation (numbers.js). Rows and columns
// count from 0 here, and from 1 in what is shown. A test compares each of them, cell by cell, with what attn
// computes and explains: src/core/op/ has the same operations in C++, with the texts they come from.

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
  const { fill, row_noun, column_noun, cell_noun } = node.attributes;
  const row = `${row_noun} ${labelOf(x.rowAxis, i)}`;
  const column = `${column_noun} ${labelOf(x.columnAxis, j)}`;
  if (numbers.cell(allowed, i, j) !== 0) {
    make.because(() => `${column} is not masked for ${row}, so the ${cell_noun} stays`);
    return make.cell(x, i, j);
  }
  const ofRow = fillOfRow(rowOf(allowed, i), fill);
  if (ofRow !== fill) {
    make.because(
      () => `every ${column_noun} is masked for ${row}: ${writtenShortest(ofRow)} replaces the ${cell_noun}s`,
    );
  } else {
    make.because(() => `${column} is masked for ${row}: ${writtenShortest(fill)} replaces the ${cell_noun}`);
  }
  return make.number(ofRow, writtenShortest(ofRow));
};

// A gradient times the derivative of a function; z is the result or the argument of the function.
const functionGradient = (slope, reason) => (make, node, i, j) => {
  const [d, z] = node.operands;
  if (reason) make.because(() => reason(`${z.title}[${i + 1},${j + 1}]`, numbers.cell(z, i, j)));
  return make.product([make.cell(d, i, j), slope(make, make.cell(z, i, j), numbers.cell(z, i, j))]);
};

// Σ_k a_ik b_ik
const dotOfRows = (make, a, b, i) =>
  make.total(a.columns, (k) => make.product([make.cell(a, i, k), make.cell(b, i, k)]));

// Rows that lie `apart` in each of so many equal parts belong together.
const groupOf = ({ parts, apart }, row, rows) => {
  const rowsOfPart = rows / parts;
  return Math.floor(row / rowsOfPart) * apart + (row % apart);
};

// A row of logits with its largest number subtracted, and the place of the target word.
const shiftedLogits = (make, node, i, stays) => {
  const [logits, ids] = node.operands;
  const row = rowOf(logits, i);
  const largest = placeOfLargest(row);
  const id = numbers.cell(ids, i, 0);
  make.because(
    () =>
      `the target is column ${id}. ${logits.title}[${i + 1},${largest + 1}], the largest logit of the row, is ` +
      `subtracted first: ${stays} the same, and exp cannot overflow`,
  );
  const at = (k) => make.difference(make.cell(logits, i, k), make.cell(logits, i, largest));
  const power = (k) => make.call("exp", at(k));
  const powers = () => make.sum(range(logits.columns).filter((k) => row[k] !== -Infinity).map(power));
  return { row, target: id - 1, at, power, powers };
};

const amongZeros = (placeOf, names) => (make, node, i, j) => {
  const [x] = node.operands;
  const { first } = node.attributes;
  const { place, size } = placeOf(x, i, j);
  if (place < first || place >= first + size) {
    make.because(() => `only ${names} ${first + 1} to ${first + size} were used here`);
    return make.number(0);
  }
  return names === "rows" ? make.cell(x, i - first, j) : make.cell(x, i, j - first);
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

// Pairs of columns turned by the angles of their positions, or by the opposite ones.
const turned = (sign) => (make, node, i, j) => {
  const [x] = node.operands;
  const pair = Math.floor(j / 2);
  const part = (beside, wave) =>
    make.product([
      make.cell(x, i, 2 * pair + beside),
      make.call(wave, angle(make, node.attributes, i, pair, x.columns)),
    ]);
  const isFirst = j % 2 === 0;
  if (isFirst === sign > 0) {
    return isFirst
      ? make.difference(part(0, "cos"), part(1, "sin"))
      : make.difference(part(1, "cos"), part(0, "sin"));
  }
  return isFirst ? make.sum([part(0, "cos"), part(1, "sin")]) : make.sum([part(0, "sin"), part(1, "cos")]);
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
  exp: ofCell((make, x) => make.call("exp", x)),
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

  tanh_gradient: functionGradient((make, y) => make.difference(make.number(1), make.square(y))),
  sigmoid_gradient: functionGradient((make, y) => make.product([y, make.difference(make.number(1), y)])),
  relu_gradient: functionGradient(
    (make, y, value) => make.number(value > 0 ? 1 : value * 0),
    (cell, y) =>
      y > 0
        ? `${cell} is above 0, where the slope of ReLU is 1`
        : `${cell} is 0: the argument was not above 0, where the slope of ReLU is 0`,
  ),
  silu_gradient: functionGradient((make, x) => {
    const s = make.call("sigmoid", x);
    return make.product([s, make.sum([make.number(1), make.product([x, make.difference(make.number(1), s)])])]);
  }),
  gelu_gradient: functionGradient((make, x) => {
    const bent = make.call("erf", make.quotient(x, make.number(Math.SQRT2, "√2")));
    const density = make.quotient(
      make.call("exp", make.product([make.number(-0.5), make.square(x)])),
      make.number(Math.sqrt(2 * Math.PI), "√(2π)"),
    );
    return make.sum([
      make.product([make.number(0.5), make.sum([make.number(1), bent])]),
      make.product([x, density]),
    ]);
  }),
  gelu_tanh_gradient: functionGradient((make, x) => {
    const factor = make.number(0.044715, "0.044715");
    const slope = make.number(Math.sqrt(2 / Math.PI), "√(2/π)");
    const cube = make.product([factor, x, x, x]);
    const bent = make.call("tanh", make.product([slope, make.sum([x, cube])]));
    const inner = make.product([
      slope,
      make.sum([make.number(1), make.product([make.number(3), factor, make.square(x)])]),
    ]);
    return make.sum([
      make.product([make.number(0.5), make.sum([make.number(1), bent])]),
      make.product([make.number(0.5), x, make.difference(make.number(1), make.square(bent)), inner]),
    ]);
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

  softmax_gradient: (make, node, i, j) => {
    const [d, weights] = node.operands;
    make.because(() => "softmax has the Jacobian diag(α) − ααᵀ, where α is the row of weights");
    return make.product([
      make.cell(weights, i, j),
      make.difference(make.cell(d, i, j), dotOfRows(make, weights, d, i)),
    ]);
  },
  normalize_gradient: (make, node, i, j) => {
    const [d, y, x] = node.operands;
    if (numbers.sum(rowOf(x, i)) === 0) {
      make.because(() => "the row's sum is 0, and nothing was divided by it");
      return make.number(0);
    }
    return make.quotient(
      make.difference(make.cell(d, i, j), dotOfRows(make, y, d, i)),
      make.total(x.columns, (k) => make.cell(x, i, k)),
    );
  },

  // --- how far a distribution is from the word that should have come

  cross_entropy: (make, node, i) => {
    const { smoothing } = node.attributes;
    const { columns } = node.operands[0];
    const { target, at, powers } = shiftedLogits(make, node, i, "the loss stays");
    const sum = make.call("ln", powers());
    if (smoothing === 0) return make.difference(sum, at(target));
    const ofTarget = make.product([make.number(1 - smoothing), at(target)]);
    const ofAll = make.product([
      make.quotient(make.number(smoothing), make.number(columns)),
      make.sum(range(columns).map(at)),
    ]);
    return make.difference(make.difference(sum, ofTarget), ofAll);
  },
  cross_entropy_gradient: (make, node, i, j) => {
    const { smoothing } = node.attributes;
    const [logits, , d] = node.operands;
    const { row, target, power, powers } = shiftedLogits(make, node, i, "the probabilities stay");
    const probability = row[j] === -Infinity ? make.number(0) : make.quotient(power(j), powers());
    const wanted = smoothing / logits.columns + (j === target ? 1 - smoothing : 0);
    const distance = wanted === 0 ? probability : make.difference(probability, make.number(wanted));
    return make.product([distance, make.cell(d, i, 0)]);
  },

  // --- rows and columns added up, and the same ones repeated

  row_sums: (make, node, i) => {
    const [x] = node.operands;
    return make.total(x.columns, (k) => make.cell(x, i, k));
  },
  sum_rows: (make, node, i, j) => {
    const [x] = node.operands;
    const rows = range(x.rows).filter((k) => groupOf(node.attributes, k, x.rows) === i);
    return make.sum(rows.map((k) => make.cell(x, k, j)));
  },
  repeat_rows: (make, node, i, j) => make.cell(node.operands[0], groupOf(node.attributes, i, node.rows), j),
  repeat_columns: (make, node, i) => make.cell(node.operands[0], i, 0),

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
  row_variances_gradient: (make, node, i, j) => {
    const [x, means, d] = node.operands;
    make.because(
      () =>
        "the mean changes with the number as well; but the distances from it add up to 0, so that changes nothing",
    );
    const distance = make.difference(make.cell(x, i, j), make.cell(means, i, 0));
    const product = make.product([make.cell(d, i, 0), make.number(2), distance]);
    return make.quotient(product, make.number(x.columns));
  },
  divide_by_deviation: (make, node, i, j) => {
    const [d, variances] = node.operands;
    const root = rootOf(make, make.cell(variances, i, 0), node.attributes.epsilon);
    return make.quotient(make.cell(d, i, j), root);
  },
  root_mean_square_gradient: (make, node, i, j) => {
    const [d, x] = node.operands;
    const { epsilon } = node.attributes;
    const squares = make.total(x.columns, (k) => make.square(make.cell(x, i, k)));
    const mean = make.quotient(squares, make.number(x.columns));
    const square = epsilon === 0 ? mean : make.sum([mean, make.number(epsilon)]);
    const meanProduct = make.quotient(dotOfRows(make, d, x, i), make.number(x.columns));
    const along = make.quotient(make.product([make.cell(x, i, j), meanProduct]), square);
    return make.quotient(make.difference(make.cell(d, i, j), along), rootOf(make, mean, epsilon));
  },
  unit_rows_gradient: (make, node, i, j) => {
    const [d, y, x] = node.operands;
    const row = rowOf(x, i);
    if (row.every((value) => value === 0)) {
      make.because(() => "the row has length 0 and no direction");
      return make.number(0);
    }
    const exponent = exponentOf(row);
    const scaled = (k) => {
      const cell = make.cell(x, i, k);
      return exponent === 0 ? cell : make.quotient(cell, make.number(2 ** exponent));
    };
    make.because(
      () => "what a gradient has in the direction of the row changes only its length, and is taken out",
    );
    const root = make.call(
      "√",
      make.total(x.columns, (k) => make.square(scaled(k))),
    );
    const length = exponent === 0 ? root : make.product([make.number(2 ** exponent), root]);
    const along = make.product([make.cell(y, i, j), dotOfRows(make, y, d, i)]);
    return make.quotient(make.difference(make.cell(d, i, j), along), length);
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

  pairs_of: (make, node, pair) => {
    const [x] = node.operands;
    return make.cell(x, Math.floor(pair / x.columns), pair % x.columns);
  },

  // --- numbers at other places

  transpose: (make, node, i, j) => make.cell(node.operands[0], j, i),
  labelled: (make, node, i, j) => {
    const [x] = node.operands;
    make.because(() => copiedFrom(x, i, j));
    return make.cell(x, i, j);
  },
  rows: (make, node, i, j) => make.cell(node.operands[0], node.attributes.first + i, j),
  columns: (make, node, i, j) => make.cell(node.operands[0], i, node.attributes.first + j),
  rows_among_zeros: amongZeros((x, i) => ({ place: i, size: x.rows }), "rows"),
  columns_among_zeros: amongZeros((x, i, j) => ({ place: j, size: x.columns }), "columns"),
  reshape: (make, node, i, j) => {
    const [x] = node.operands;
    const place = i * node.columns + j;
    return make.cell(x, Math.floor(place / x.columns), place % x.columns);
  },
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
      () => `${ids.title}[${i + 1},1] is ${id}: the vector is row ${id} of ${table.title}`,
    );
    return make.cell(table, id - 1, j);
  },
  one_hot: (make, node, i, j) => {
    const [ids] = node.operands;
    const id = numbers.cell(ids, i, 0);
    make.because(() => `${ids.title}[${i + 1},1] is ${id}: only column ${id} of its row is 1`);
    return make.number(id - 1 === j ? 1 : 0);
  },

  add_rows_by_id: (make, node, row, j) => {
    const [ids, d] = node.operands;
    const those = range(ids.rows).filter((i) => numbers.cell(ids, i, 0) - 1 === row);
    if (those.length === 0) {
      make.because(() => `no word has the id ${row + 1}`);
      return make.number(0);
    }
    make.because(
      () => `the id ${row + 1} is that of ${those.map((i) => labelOf(ids.rowAxis, i)).join(", ")}`,
    );
    return make.sum(those.map((i) => make.cell(d, i, j)));
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
  sum_by_distance: (make, node, row, column) => {
    const [d] = node.operands;
    const most = (node.columns - 1) / 2;
    const distance = column - most;
    const columnOf = (i, j) => Math.max(-most, Math.min(most, j - i)) + most;
    const terms = [];
    for (const i of node.rows === 1 ? range(d.rows) : [row]) {
      for (const j of range(d.columns)) if (columnOf(i, j) === column) terms.push(make.cell(d, i, j));
    }
    if (terms.length === 0) {
      make.because(() => `nothing has the distance ${distance}`);
      return make.number(0);
    }
    const more = Math.abs(distance) === most ? ", or a longer one" : "";
    make.because(() => `these have the distance ${distance}${more}`);
    return make.sum(terms);
  },
  sinusoid: (make, node, i, j) => {
    const { frequencies, is_sine } = node.attributes;
    const wave = is_sine[j] ? "sin" : "cos";
    return make.call(wave, angle(make, node.attributes, i, frequencies[j], node.columns));
  },
  rotate: turned(1),
  rotate_back: turned(-1),
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
