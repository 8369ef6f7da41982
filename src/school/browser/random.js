// Random numbers as attn draws them (src/core/math/random.cpp), bit for bit: words of the Mersenne Twister mt19937, and
// of two words a number in [0, 1).

class RandomNumbers {
  static size = 624;
  static middle = 397;

  constructor(seed) {
    const words = new Uint32Array(RandomNumbers.size);
    words[0] = seed;
    for (let i = 1; i < words.length; ++i) {
      const last = words[i - 1] ^ (words[i - 1] >>> 30);
      words[i] = Math.imul(1812433253, last) + i;
    }
    this.words = words;
    this.place = words.length;
    this.count = 0; // of the numbers that were drawn
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

// Draws the numbers of some matrices, each with its shape and `drawn`: the seed, how many numbers were drawn before
// it, between which numbers it lies, and where words came again or were padding, which of the drawn rows its rows are.
// Matrices that begin at the same place have the same numbers. -> by matrix, its cells.
function drawnNumbers(matrices) {
  const countOf = ({ shape: [rows, columns], drawn }) => (drawn.rows ? Math.max(0, ...drawn.rows) : rows) * columns;
  const order = [...matrices].sort((a, b) => a.drawn.seed - b.drawn.seed || a.drawn.before - b.drawn.before || countOf(b) - countOf(a));
  const all = new Map();
  let generator, seed, before, raw;
  for (const matrix of order) {
    const [rows, columns] = matrix.shape;
    const { drawn } = matrix;
    if (!generator || drawn.seed !== seed) {
      generator = new RandomNumbers(drawn.seed);
      before = undefined;
      ({ seed } = drawn);
    }
    if (drawn.before !== before) {
      while (generator.count < drawn.before) generator.next();
      raw = Float64Array.from({ length: countOf(matrix) }, () => generator.next());
      ({ before } = drawn);
    }
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
