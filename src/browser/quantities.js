// What a reader types as a number, read as the program reads it (src/quantity/quantity.cpp, where there is no
// computation; src/lesson/typed_answer.cpp for decimal commas).

const constantsTyped = { e: Math.E };

const functionsTyped = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  log: Math.log,
  ln: Math.log,
  sin: Math.sin,
  cos: Math.cos,
  tanh: Math.tanh,
  abs: Math.abs,
};

// Something that was typed can be read in two ways; its message says so.
class Ambiguous extends Error {}

// "0,88" has a decimal comma, "2,099,712" and "1,024.5" have commas between thousands, and "1,024" is ambiguous.
// Other commas stay, and then it is no number.
function withDecimalPoint(number) {
  const groups = number.split(".")[0].split(",").filter((group) => group !== "");
  const isThousand = (group) => group.length === 3;
  const isByThousands =
    groups.length > 1 && groups[0].length <= 3 && groups[0] !== "0" && groups.slice(1).every(isThousand);
  const plain = number.replaceAll(",", "");
  if (groups.length !== 2 || number.includes(".")) return isByThousands ? plain : number;
  const point = number.replaceAll(",", ".");
  if (isByThousands)
    throw new Ambiguous(`${number} could be ${plain} or ${point}: write it without a comma`);
  return point;
}

const withDecimalPoints = (typed) => typed.replace(/[0-9.,]+/g, withDecimalPoint);

// Works out an expression of numbers: + - * / ^, powers such as e², parentheses, functions, per cent. NaN where
// it is none.
class NumberReader {
  constructor(expression) {
    this.rest = expression;
    this.depth = 0;
  }

  static unread = new Error("no number");

  read() {
    const value = this.sum();
    this.skip();
    if (this.rest !== "") throw NumberReader.unread;
    return value;
  }

  skip() {
    this.rest = this.rest.replace(/^[ \t]+/, "");
  }

  // What matches comes next and is taken: the match; undefined: it does not.
  take(pattern) {
    this.skip();
    const match = pattern.exec(this.rest);
    if (!match) return undefined;
    this.rest = this.rest.slice(match[0].length);
    return match[0];
  }

  sum() {
    let total = this.product();
    for (;;) {
      if (this.take(/^\+/)) total += this.product();
      else if (this.take(/^[-−]/)) total -= this.product();
      else return total;
    }
  }

  product() {
    let total = this.signed();
    for (;;) {
      if (this.take(/^[*⋅·×]/)) total *= this.signed();
      else if (this.take(/^[/÷]/)) total /= this.signed();
      else return total;
    }
  }

  signed() {
    if (++this.depth > 100) throw NumberReader.unread;
    let value;
    if (this.take(/^[-−]/)) value = -this.signed();
    else if (this.take(/^\+/)) value = this.signed();
    else if (this.take(/^√/)) value = Math.sqrt(this.signed());
    else value = this.power();
    --this.depth;
    return value;
  }

  power() {
    const base = this.primary();
    const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    const superscript = this.take(/^⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+/);
    if (superscript) {
      const size = Number([...superscript.replace("⁻", "")].map((digit) => digits.indexOf(digit)).join(""));
      return base ** (superscript[0] === "⁻" ? -size : size);
    }
    return this.take(/^\^/) ? base ** this.signed() : base;
  }

  primary() {
    if (this.take(/^\(/)) return this.closed(this.sum());
    const name = this.take(/^[A-Za-z][A-Za-z0-9_.]*/);
    if (name === undefined) return this.number();
    if (this.take(/^\(/)) {
      if (!Object.hasOwn(functionsTyped, name)) throw NumberReader.unread;
      return this.closed(functionsTyped[name](this.sum()));
    }
    if (!Object.hasOwn(constantsTyped, name)) throw NumberReader.unread;
    return constantsTyped[name];
  }

  closed(value) {
    if (!this.take(/^\)/)) throw NumberReader.unread;
    return value;
  }

  number() {
    const written = this.take(/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i);
    if (written === undefined) throw NumberReader.unread;
    const value = Number(written);
    const isTooSmall = value === 0 && /[1-9]/.test(written.split(/e/i)[0]);
    if (!Number.isFinite(value) || isTooSmall) throw NumberReader.unread;
    return this.take(/^%/) ? value / 100 : value;
  }
}

// How many digits stand behind the point, where a number is written out: a sign, digits, perhaps a point.
function decimalsTyped(written) {
  const isPerCent = written.endsWith("%");
  const plain = (isPerCent ? written.slice(0, -1) : written).trim().replace(/^-?−?\+?/, "");
  const match = /^\d*(?:\.(\d{0,300}))?$/.exec(plain);
  if (plain === "" || !match) return undefined;
  return (match[1]?.length ?? 0) + (isPerCent ? 2 : 0);
}

// What was typed as a number, and its decimals where it is written out; null where it is none. Throws Ambiguous.
function readNumber(typed) {
  const expression = withDecimalPoints(typed.trim());
  try {
    const value = new NumberReader(expression).read();
    if (Number.isFinite(value)) return { value, decimals: decimalsTyped(expression) };
  } catch (error) {
    if (error !== NumberReader.unread) throw error;
  }
  return null;
}

// The same as a number; NaN where it is none, or could be two.
function numberTyped(text) {
  try {
    return readNumber(text)?.value ?? NaN;
  } catch (error) {
    if (error instanceof Ambiguous) return NaN;
    throw error;
  }
}
