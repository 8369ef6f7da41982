// Answers to a question, judged as the program judges them (src/school/tutor/typed_answer.cpp and diagnosis.cpp). The
// question is what attn wrote (src/school/lesson/page_data.cpp): its answer, and all answers that are recognised.

const sameQuantity = (a, b) => (Array.isArray(a) ? a.every((side, i) => side === b[i]) : a === b);

// "2x4", "2 × 4", "2 by 4", "[2, 4]"; null where it is no shape.
function readShape(typed) {
  const plain = typed.toLowerCase().replace(/×|by|[x*,[\]()]/g, " ");
  const sides = plain.split(" ").filter((side) => side !== "");
  const isShape = /^[0-9 ]*$/.test(plain) && sides.length === 2 && sides.every((side) => side.length < 10);
  return isShape ? { value: sides.map(Number) } : null;
}

// Words are compared without regard to the case of Latin letters.
const inLowerCase = (word) => word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const trimmedOf = (text, edges) => text.replace(new RegExp(`^[${edges}]+|[${edges}]+$`, "gu"), "");

// One of the choices, by its words, its number or the words that it alone begins with.
function readChoice(typed, choices) {
  const word = inLowerCase(typed);
  const place = choices.findIndex((choice, i) => word === inLowerCase(choice) || word === String(i + 1));
  if (place >= 0) return { value: choices[place] };
  const begins = choices.filter((choice) => {
    const words = inLowerCase(choice);
    return words.startsWith(word) && /^[ ,:(]/.test(words.slice(word.length));
  });
  return begins.length === 1 ? { value: begins[0] } : null;
}

// A word without an article before it and without quotes and a full stop around it.
function bareWord(typed) {
  const word = trimmedOf(typed, " \\t\"'`.“”‘’");
  const article = /^(the|a|an) /i.exec(word);
  return article ? word.slice(article[0].length).trim() : word;
}

// As the answer or a row that is recognised has it, upper and lower case alike.
function readWord(typed, question) {
  const known = [question.answer, ...question.recognised.map((row) => row.quantity)];
  for (const word of [typed, bareWord(typed)]) {
    const meant = known.find((one) => inLowerCase(word) === inLowerCase(one));
    if (meant !== undefined) return { value: meant };
  }
  return { value: bareWord(typed) };
}

// What was typed as an answer to the question; null where it is not of the kind that is asked for.
function readAnswer(typed, question) {
  if (typed === "") return null;
  switch (question.kind) {
    case "shape":
      return readShape(typed);
    case "choice":
      return readChoice(typed, question.choices);
    case "word":
      return readWord(typed, question);
  }
  return readNumber(typed);
}

// How far a number may lie from a typed one that is this number, rounded as it was typed.
function precisionOf({ value, decimals }) {
  if (decimals === undefined) return 1e-4 * Math.abs(value);
  return 0.5 * 10 ** -decimals * (1 + 1e-9) + 1e-12 * Math.abs(value);
}

function isSameAnswer(a, b, question) {
  if (question.kind !== "number") return sameQuantity(a, b);
  return Math.abs(a - b) <= question.tolerance * (1 + 1e-9) + 1e-12 * Math.abs(b);
}

// --- what is said to a wrong answer

const wrong = (says) => ({ mark: "wrong", says });

// How much of a number its digits may leave open.
const exactly = 0;
const closely = 0.02;
const roughly = 0.06;

const kindsInOrder = ["note", "neighbor", "given", "mistake", "convention", "writing", "slip", "operand", "elsewhere"];
const isSlip = ({ kind }) => kind === "writing" || kind === "slip";

// At most so many reasons are told.
const mostReasons = 2;

// Whether a number is a typed one, rounded as that was typed, and is told by it.
function tells(typed, number, closeness) {
  const nextToNothing = closeness > 0 ? 0.001 : 1e-9;
  const off = Math.abs(number - typed.value);
  const size = Math.abs(number);
  const precision = precisionOf(typed);
  return off <= precision && (off <= nextToNothing * size || precision <= closeness * size);
}

// The rows up to a kind that a typed answer is.
function rowsFor(question, last, typed, closeness) {
  const most = kindsInOrder.indexOf(last);
  const fits = ({ quantity }) =>
    question.kind === "number" ? tells(typed, quantity, closeness) : sameQuantity(quantity, typed.value);
  return question.recognised.filter((row) => kindsInOrder.indexOf(row.kind) <= most && fits(row));
}

function told(rows) {
  // From a number of the question one may come to it again.
  if (rows[0].kind === "given")
    return wrong((rows.find(isSlip) ?? rows[0]).says + alsoFrom(rows));
  const [first] = rows;
  if (first.kind === "neighbor") return wrong(first.says + alsoFrom(rows));
  const convention = rows.find((row) => row.kind === "convention");
  if (first.kind !== "note" && convention) return { mark: "convention", says: convention.says };
  const alike = rows.filter((row) => row.summary !== undefined && row.kind === first.kind);
  if (first.summary === undefined || alike.length < 2) return wrong(first.says);
  const such = alike.length > mostReasons ? ", such as" : "";
  const summaries = alike.slice(0, mostReasons).map((row) => row.summary);
  return wrong(`${alike.length} mistakes give this answer${such}: ${summaries.join("; or ")}.`);
}

const digitsOf = (number, decimals) => writtenFixed(Math.abs(number), decimals).replace(".", "");

// Whether it is a number such as 0, 2 or 0.5, at which one arrives in many ways.
const saysLittle = ({ value, decimals }) =>
  decimals !== undefined && (decimals > 0 ? /^0*[1-9]?$/ : /^0*[1-9]?0*$/).test(digitsOf(value, decimals));

const isAlike = (answer, value) =>
  Math.abs(value - answer) <= 0.25 * Math.abs(answer) || (value === 0 && Math.abs(answer) < 0.1);

const isSmallWhole = ({ value, decimals }) => decimals === 0 && Math.abs(value) < 100;

// It is the correct answer with too few digits; "" where it is not.
function roundedTooFar({ answer, decimals: wanted }, { value, decimals }) {
  const isRounded =
    decimals !== undefined &&
    decimals < wanted &&
    isAlike(answer, value) &&
    Math.abs(value - answer) <= precisionOf({ value, decimals });
  return isRounded ? `This is rounded too far. Give ${wanted === 1 ? "1 digit" : `${wanted} digits`} after the point.` : "";
}

// It is the correct answer, but for its last digits; "" where it is not.
function aboutDigits({ answer, decimals: wanted }, { value, decimals }) {
  const off = Math.abs(value - answer);
  if (decimals !== undefined && decimals <= 12) {
    const unit = 10 ** -decimals;
    if (isAlike(answer, value) && value !== 0 && decimals >= wanted && Math.abs(value - Math.trunc(answer / unit) * unit) < 1e-9 * unit)
      return "The last digit was cut off, not rounded: the next one is 5 or more.";
    const a = digitsOf(answer, decimals);
    const b = digitsOf(value, decimals);
    const at = [...a].findIndex((digit, i) => digit !== b[i]);
    const isExchanged = at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
    if (a.length === b.length && answer < 0 === value < 0 && at + 1 < a.length && isExchanged)
      return "Two digits are exchanged.";
  }
  const areWhole = Number.isInteger(answer) && Number.isInteger(value);
  return off <= 0.01 * Math.abs(answer) && !areWhole
    ? "This is close, within 1 %. If the steps are right, round only at the end."
    : "";
}

function aboutSize(answer, value) {
  if (answer !== 0 && value !== 0 && answer < 0 !== value < 0)
    return answer < 0 ? "The answer is negative." : "The answer is positive.";
  const [a, b] = [Math.abs(answer), Math.abs(value)];
  const far = Math.max(a, b) > 3 * Math.min(a, b) ? "far too" : "too";
  return `${answer < 0 ? "Without its sign, this is" : "This is"} ${far} ${b > a ? "large" : "small"}.`;
}

// The only mistake that also gives a number at which one arrives in many ways.
function alsoFrom(rows) {
  const summaries = rows.filter((row) => row.kind === "mistake").map((row) => row.summary);
  return summaries.length + 1 === mostReasons ? ` A mistake can give the same number: ${summaries[0]}.` : "";
}

// What is said of the first bound that a number breaks; "" where it breaks none.
function brokenBound({ bounds }, { value }) {
  const isBroken = ({ least = -Infinity, most = Infinity, isWhole }) =>
    value < least || value > most || (isWhole && !Number.isInteger(value));
  return bounds.find(isBroken)?.says ?? "";
}

// A slip in the steps whose result has the other sign. How a number is written explains its sign already.
function turnedSlip(question, typed) {
  const { answer } = question;
  const isTurned = typed.value !== 0 && answer !== 0 && typed.value < 0 !== answer < 0;
  const rows = isTurned ? rowsFor(question, "slip", { ...typed, value: -typed.value }, closely) : [];
  return rows.find(({ kind }) => kind !== "writing");
}

function diagnosedNumber(question, typed) {
  const note = question.recognised.find(
    (row) =>
      row.kind === "note" &&
      Math.abs(typed.value - row.quantity) <= Math.max(precisionOf(typed), 0.01 * Math.abs(row.quantity)) &&
      isSameAnswer(typed.value, row.quantity, question),
  );
  if (note) return wrong(note.says);
  const rounded = roundedTooFar(question, typed);
  if (!question.isComputed) return wrong(rounded || aboutDigits(question, typed));
  const found = (last, closeness) => rowsFor(question, last, typed, closeness);
  const broken = brokenBound(question, typed);
  if (saysLittle(typed)) {
    const rows = found("slip", exactly);
    const slip = rows.find(isSlip);
    if (slip) return wrong(slip.says + alsoFrom(rows));
    if (rows.length > 0 && kindsInOrder.indexOf(rows[0].kind) < kindsInOrder.indexOf("mistake")) return told(rows);
    if (broken) return wrong(broken);
  }
  if (rounded) return wrong(rounded);
  for (const [last, closeness] of [
    ["convention", exactly],
    ["slip", exactly],
    ["convention", roughly],
  ]) {
    const rows = found(last, closeness);
    if (rows.length > 0) return told(rows);
  }
  const digits = aboutDigits(question, typed);
  if (digits) return wrong(digits);
  const isSmall = saysLittle(typed) || isSmallWhole(typed);
  for (const last of ["slip", isSmall ? "operand" : "elsewhere"]) {
    const rows = found(last, closely);
    if (rows.length > 0) return told(rows);
    if (last === "slip" && broken) return wrong(broken);
  }
  const slip = isSmall ? undefined : turnedSlip(question, typed);
  return slip
    ? wrong(`The sign is wrong, and more than that. Without the sign: ${slip.says}`)
    : wrong(aboutSize(question.answer, typed.value));
}

function diagnosedShape(question, typed) {
  const rows = rowsFor(question, "elsewhere", typed, exactly);
  if (rows.length > 0) return told(rows);
  const [[height, width], [rightHeight, rightWidth]] = [typed.value, question.answer];
  if (height === rightHeight) return wrong(`The rows are right. How many columns are there?${question.axes}`);
  if (width === rightWidth) return wrong(`The columns are right. How many rows are there?${question.axes}`);
  if (height === rightWidth)
    return wrong("The first number is the number of columns: the rows come first.");
  if (width === rightHeight) return wrong("The second number is the number of rows: the rows come first.");
  return wrong(`Neither is right.${question.axes}`);
}

// How many letters have to be added, left out, changed or exchanged.
function editDistance(a, b) {
  let twoAgo = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const row = [i];
    for (let j = 1; j <= b.length; ++j) {
      row[j] = Math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], twoAgo[j - 2] + 1);
    }
    twoAgo = previous;
    previous = row;
  }
  return previous[b.length];
}

// The only word that is a slip of the keys away.
function nearestWord(typed, words) {
  const bytes = (word) => new TextEncoder().encode(inLowerCase(word));
  const near = words.filter((word) => {
    const letters = bytes(word);
    return letters.length >= 3 && editDistance(bytes(typed), letters) <= (letters.length >= 6 ? 2 : 1);
  });
  return near.length === 1 ? near[0] : undefined;
}

function diagnosedWord(question, typed) {
  const rows = rowsFor(question, "elsewhere", typed, exactly);
  if (rows.length > 0) return told(rows);
  const word = typed.value;
  const words = question.words ?? [];
  if (words.length === 0 || words.includes(word)) return wrong("");
  if (/^[0-9]{1,9}$/.test(word) && Number(word) > 0 && Number(word) <= words.length)
    return { mark: "unreadable", says: "Please type the word itself, not its place." };
  const meant = nearestWord(word, words);
  if (meant !== undefined) {
    if (meant === question.answer)
      return { mark: "unreadable", says: `There is no word '${word}' here. Check how it is written.` };
    return wrong(`If this is ${meant}: ${diagnosedWord(question, { value: meant }).says}`);
  }
  if (words.length > 12) return wrong(`There is no word '${word}' here: choose one of the table.`);
  return wrong(`'${word}' is none of the words here: ${words.join(", ")}.`);
}

// How many numbers a list or a shape has; 0: it is something else.
function countOfNumbers(typed) {
  const numbers = typed.replace(/[×x()[\];]/g, " ").split(/[ ,]/).filter((one) => one !== "");
  return numbers.every((one) => /^-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/.test(one)) ? numbers.length : 0;
}

function whyUnreadable(typed, { kind, wanted }) {
  const numbers = countOfNumbers(typed);
  if (kind === "number" && numbers > 1) return `One number is asked for, not several. ${wanted}`;
  if (kind === "shape" && numbers === 1) return `A shape has two numbers. ${wanted}`;
  if (kind === "shape" && numbers > 2) return `A shape has only two numbers. ${wanted}`;
  return wanted;
}

// "right", "wrong", "convention" or "unreadable", and what is said to it.
function judge(question, answer) {
  let typed;
  try {
    typed = readAnswer(answer.trim(), question);
  } catch (error) {
    if (error instanceof Ambiguous) return { mark: "unreadable", says: `${error.message}.` };
    throw error;
  }
  if (!typed) return { mark: "unreadable", says: whyUnreadable(answer.trim(), question) };
  if (isSameAnswer(typed.value, question.answer, question)) return { mark: "right", says: "" };
  if (question.kind === "number") return diagnosedNumber(question, typed);
  return question.kind === "shape" ? diagnosedShape(question, typed) : diagnosedWord(question, typed);
}
