// Random numbers as attn draws them (src/core/math/random.cpp), bit for bit: words of the Mersenne Twister mt19937, and
// of two words a number in [0, 1).

class RandomNumbers {
  static size = 624;
  static middle = 397;

  // Without a name: from the seed alone (init_genrand of Matsumoto and Nishimura). With one: from the seed and the
  // bytes of the name (init_by_array).
  constructor(seed, name = "") {
    this.words = new Uint32Array(RandomNumbers.size);
    this.begin(name ? 19650218 : seed);
    if (name) this.mix([seed, ...new TextEncoder().encode(name)]);
    this.place = this.words.length;
    this.count = 0; // of the numbers that were drawn
  }

  static bent(word) {
    return word ^ (word >>> 30);
  }

  begin(seed) {
    const { words } = this;
    words[0] = seed;
    for (let i = 1; i < words.length; ++i) words[i] = Math.imul(1812433253, RandomNumbers.bent(words[i - 1])) + i;
  }

  mix(key) {
    const { words } = this;
    const { size, bent } = RandomNumbers;
    let i = 1;
    const next = () => {
      if (++i < size) return;
      words[0] = words[size - 1];
      i = 1;
    };
    for (let k = 0; k < Math.max(size, key.length); ++k) {
      const j = k % key.length;
      words[i] = (words[i] ^ Math.imul(bent(words[i - 1]), 1664525)) + key[j] + j;
      next();
    }
    for (let k = 1; k < size; ++k) {
      words[i] = (words[i] ^ Math.imul(bent(words[i - 1]), 1566083941)) - i;
      next();
    }
    words[0] = 0x80000000;
  }

  twist() {
    const { words } = this;
    const { size, middle } = RandomNumbers;
    for (let i = 0; i < size; ++i) {
      const mixed = (words[i] & 0x80000000) | (words[(i + 1) % size] & 0x7fffffff);
      words[i] = words[(i + middle) % size] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    }
    this.place = 0;
  }

  word() {
    if (this.place === this.words.length) this.twist();
    let word = this.words[this.place++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  next() {
    const high = this.word() >>> 5;
    const low = this.word() >>> 6;
    ++this.count;
    return (high * 67108864 + low) / 9007199254740992;
  }
}

// The numbers in [0, 1) of a matrix that was drawn, row after row: those of its own generator; or those of one generator
// for each row, or for each column; or where it has no name, those behind all that was drawn from the seed before it.
function rawNumbers({ seed, name, before, labels, byColumn }, rows, columns, inOrder) {
  const raw = new Float64Array(rows * columns);
  if (!labels) {
    const generator = name ? new RandomNumbers(seed, name) : inOrder(seed, before);
    return raw.map(() => generator.next());
  }
  labels.forEach((label, i) => {
    const generator = new RandomNumbers(seed, `${name}[${label}]`);
    for (let j = 0; j < (byColumn ? rows : columns); ++j) raw[byColumn ? j * columns + i : i * columns + j] = generator.next();
  });
  return raw;
}

// Draws the numbers of some matrices, each with its shape and `drawn`: the seed and the name; how many numbers were drawn
// before it where it has none; between which numbers it lies; and where words came again or were padding, which of the
// drawn rows its rows are. -> by matrix, its cells.
function drawnNumbers(matrices) {
  const all = new Map();
  let generator, last;
  // Matrices that are drawn in order come in this order. Those that begin at the same place have the same numbers.
  const inOrder = (seed, before) => {
    if (seed !== last || generator.count > before) generator = new RandomNumbers(seed);
    last = seed;
    while (generator.count < before) generator.next();
    return generator;
  };
  const order = [...matrices].sort((a, b) => a.drawn.seed - b.drawn.seed || a.drawn.before - b.drawn.before);
  for (const matrix of order) {
    const [rows, columns] = matrix.shape;
    const { drawn } = matrix;
    const drawnRows = drawn.labels && !drawn.byColumn ? drawn.labels.length : drawn.rows ? Math.max(0, ...drawn.rows) : rows;
    const raw = rawNumbers(drawn, drawnRows, columns, inOrder);
    const cells = new Float64Array(rows * columns);
    for (let i = 0; i < rows; ++i) {
      const row = drawn.rows ? drawn.rows[i] - 1 : i;
      if (row < 0) continue;
      for (let j = 0; j < columns; ++j)
        cells[i * columns + j] = drawn.from + (drawn.to - drawn.from) * raw[row * columns + j];
    }
    all.set(matrix, cells);
  }
  return all;
}
