"use strict";

// How numbers and lists of words are written, and the functions that JavaScript does not have. The rules are those
// of src/support/number.cpp and src/render/steps.cpp, so that the page writes what attn prints.

const tieTolerance = 5e-13; // so far below a tie a number counts as the tie: 0.125 is 0.13 everywhere
const largestExact = 1e11;

// With a fixed number of decimals: "-0.8808", and never "-0.0000".
function writtenFixed(value, decimals) {
  const magnitude = Math.abs(value) * 10 ** decimals;
  if (!(magnitude < largestExact)) return value.toFixed(decimals);
  const digits = String(Math.floor(magnitude + magnitude * tieTolerance + 0.5)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const sign = value < 0 && Number(digits) !== 0 ? "-" : "";
  return sign + whole + (decimals > 0 ? "." + digits.slice(digits.length - decimals) : "");
}

// "1.50e+08"
function writtenScientific(value, decimals) {
  return value.toExponential(decimals).replace(/e([+-])(\d)$/, "e$10$2");
}

// The fewest digits that read back as the same number: "10000", "1e-05".
function writtenShortest(value) {
  if (!Number.isFinite(value)) return numeral(value, 0).text;
  const magnitude = Math.abs(value);
  const hasPower = magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  return hasPower ? value.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(value);
}

// Whether so many decimals show the value exactly, to twelve digits.
function isExact(value, decimals) {
  if (!Number.isFinite(value)) return true;
  const magnitude = Math.abs(value) * 10 ** decimals;
  const tolerance = magnitude < largestExact ? magnitude * tieTolerance : 0;
  return Math.abs(magnitude - Math.round(magnitude)) <= tolerance;
}

// The fewest decimals, at most `most`, that show all values exactly.
function decimalsFor(values, most) {
  let decimals = 0;
  for (const value of values) {
    while (decimals < most && !isExact(value, decimals)) ++decimals;
    if (decimals === most) break;
  }
  return decimals;
}

// A number within a derivation, and whether it is exact as written: trailing zeros are left out.
function numeral(value, precision) {
  if (Number.isNaN(value)) return { text: "NaN", isExact: true };
  if (!Number.isFinite(value)) return { text: value < 0 ? "−∞" : "∞", isExact: true };
  const magnitude = Math.abs(value);
  const isTiny = magnitude !== 0 && magnitude < 0.5 * 10 ** -precision;
  let digits;
  if (isTiny || magnitude >= 1e12) {
    digits = writtenScientific(magnitude, 2);
  } else {
    digits = writtenFixed(magnitude, precision);
    if (digits.includes(".")) digits = digits.replace(/\.?0+$/, "");
  }
  return {
    text: (value < 0 && digits !== "0" ? "-" : "") + digits,
    isExact: isExact(value, precision) && !isTiny,
  };
}

// "a, b and c"
const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

// 2/√π ∫₀ˣ exp(−t²) dt, to the last digits of a double: its series near 0, and for larger x the continued
// fraction of 1 − erf(x).  (Abramowitz and Stegun 1964, 7.1.6 and 7.1.14)
function erf(x) {
  if (Number.isNaN(x)) return x;
  if (x < 0) return -erf(-x);
  if (x > 6) return 1;
  if (x < 2.5) {
    let term = x;
    let total = x;
    for (let n = 1; Math.abs(term) > 1e-17 * total; ++n) {
      term *= (2 * x * x) / (2 * n + 1);
      total += term;
    }
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  let rest = x;
  for (let n = 60; n > 0; --n) rest = x + n / 2 / rest;
  return 1 - Math.exp(-x * x) / (Math.sqrt(Math.PI) * rest);
}
