// Answers to a question, judged as the program judges them: in the order and with the sentences of one table,
// `judgeTable` (src/school/tutor/judge.json), by facts that are found here and in src/school/tutor/typed_answer.cpp and
// diagnosis.cpp. The question is what attn wrote (src/school/lesson/page_data.cpp): its answer, and all answers that
// are recognised.

const { limits } = judgeTable;

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

// Whether `words` stand in a text as they are, from the beginning of a word to the end of one.
function hasWords(text, words) {
  const isAround = (character) => character === undefined || ' ,:()"'.includes(character);
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1))
    if (isAround(text[at - 1]) && isAround(text[at + words.length])) return true;
  return false;
}

// What stands before the first comma or other sign that ends a part of a sentence: "yes" of "yes, because they differ".
const firstPart = (typed) => typed.split(/[,.;:](?: |$)/)[0].trim();

// A text without commas, and with hyphens for minus signs: as people type it.
const plainSigns = (text) => text.replace(/,/g, "").replace(/−/g, "-");

// One of the choices, by its words or its number; by what it alone begins with, or has in it; or it is the first part of
// a longer answer. Anywhere else in one, its words may be denied.
function readChoice(typed, { choices }) {
  const word = inLowerCase(typed);
  const plain = plainSigns(word);
  const place = choices.findIndex((choice, i) => plain === plainSigns(inLowerCase(choice)) || word === String(i + 1));
  if (place >= 0) return { value: choices[place] };
  for (const holds of [
    (choice) => choice.startsWith(word) && hasWords(choice, word),
    (choice) => hasWords(choice, word),
    (choice) => choice === firstPart(word),
  ]) {
    const found = choices.filter((choice) => holds(inLowerCase(choice)));
    if (found.length === 1) return { value: found[0] };
  }
  return null;
}

const withoutSignsAround = (typed) => trimmedOf(typed, " \\t\"'`.“”‘’");

// A word without an article before it and without quotes and a full stop around it.
function bareWord(typed) {
  const word = withoutSignsAround(typed);
  const article = /^(the|a|an) /i.exec(word);
  return article ? word.slice(article[0].length).trim() : word;
}

// The words of a longer answer that are among those to choose from, each once. A denial says nothing of its words.
function wordsWithin(typed, choices) {
  const words = typed.split(/[ \t,;:!?]/).filter((word) => word !== "").map((word) => inLowerCase(withoutSignsAround(word)));
  if (words.includes("not")) return [];
  return [...new Set(words.flatMap((word) => choices.find((choice) => inLowerCase(choice) === word) ?? []))];
}

// As the answer or a row that is recognised has it, upper and lower case alike, alone or as the first part of a longer
// answer.
function readWord(typed, question) {
  const known = [question.answer, ...question.recognised.map((row) => row.quantity)];
  for (const word of [typed, bareWord(typed), bareWord(firstPart(typed))]) {
    const meant = known.find((one) => inLowerCase(word) === inLowerCase(one));
    if (meant !== undefined) return { value: meant };
  }
  return { value: bareWord(typed), words: wordsWithin(bareWord(typed), question.words ?? []) };
}

const readers = { number: readNumber, choice: readChoice, shape: readShape, word: readWord };

// What was typed as an answer to the question; null where it is not of the kind that is asked for.
const readAnswer = (typed, question) => (typed === "" ? null : readers[question.kind](typed, question));

// How far a number may lie from a typed one that is this number, rounded as it was typed.
function precisionOf({ value, decimals }) {
  if (decimals === undefined) return limits["precision of an expression"] * Math.abs(value);
  return 0.5 * 10 ** -decimals * (1 + limits.rounding) + limits["last bits"] * Math.abs(value);
}

function isSameAnswer(a, b, question) {
  if (question.kind !== "number") return sameQuantity(a, b);
  return Math.abs(a - b) <= question.tolerance * (1 + limits.rounding) + limits["last bits"] * Math.abs(b);
}

// --- the table

// A sentence with what stands in its places, or what another list says there.
const filledIn = (says, evidence) =>
  says.replace(/{([^}]*)}/g, (place, name) => evidence.places[name] ?? judgedBy(name, evidence).says);

// What the first row of a list says whose facts hold; undefined: none holds. What is known of an answer is its `facts`
// and `places`; `search` has the same of the answers that are recognised up to a kind, so closely, where there are any.
function judgedBy(list, evidence) {
  for (const row of judgeTable[list]) {
    if (!(row.if ?? []).every((fact) => evidence.facts[fact])) continue;
    if (row.upTo === undefined) return { mark: row.mark ?? "wrong", says: filledIn(row.says, evidence) };
    const found = evidence.search(row.upTo, limits[row.told]);
    const judged = found && judgedBy(row.list ?? "recognized", found);
    if (judged) return judged;
  }
  return undefined;
}

// --- answers that are recognised

// Whether a number is a typed one, rounded as that was typed, and is told by it.
function tells(typed, number, closeness) {
  const off = Math.abs(number - typed.value);
  const size = Math.abs(number);
  const precision = precisionOf(typed);
  const nothing = closeness > 0 ? limits["next to nothing"] : limits.nothing;
  return off <= precision && (off <= nothing * size || precision <= closeness * size);
}

// The rows up to a kind that a typed answer is. Of a number without a computation only its notes are recognised, and
// only where they are near.
function rowsFor(question, last, typed, closeness) {
  const isNumber = question.kind === "number";
  if (isNumber && !question.isComputed) return [];
  const most = judgeTable.kinds.indexOf(last);
  const fits = ({ quantity, within = Infinity }) =>
    isNumber ? precisionOf(typed) <= within && tells(typed, quantity, closeness) : sameQuantity(quantity, typed.value);
  return question.recognised.filter((row) => judgeTable.kinds.indexOf(row.kind) <= most && fits(row));
}

function evidenceOf(rows) {
  if (rows.length === 0) return undefined;
  const [first, ...others] = rows;
  const facts = { [`first is ${first.kind}`]: true };
  const places = { first: first.says };
  for (const { kind, says } of rows) {
    facts[`has ${kind}`] = true;
    places[kind] ??= says;
  }
  const another = others.find(({ kind }) => first.summary !== undefined && kind === "mistake");
  facts["another mistake"] = another !== undefined;
  places.summary = another?.summary;
  return { facts, places };
}

// What a sentence says that goes on with how to begin.
function beginningOf({ first = "", hints = [] }) {
  const facts = { "has a first step": first !== "", "has a hint": hints.length > 0 };
  return { facts, places: { "first step": first, hint: hints[0] ?? "" } };
}

function judgedAmong(list, question, typed, facts, places) {
  const begin = beginningOf(question);
  return judgedBy(list, {
    facts: { ...facts, ...begin.facts },
    places: { ...places, ...begin.places },
    search: (last, closeness) => evidenceOf(rowsFor(question, last, typed, closeness)),
  });
}

// --- numbers

const digitsOf = (number, decimals) => writtenFixed(Math.abs(number), decimals).replace(".", "");

// Whether it is a number such as 0, 2 or 0.5, at which one arrives in many ways.
const saysLittle = ({ value, decimals }) =>
  decimals !== undefined && (decimals > 0 ? /^0*[1-9]?$/ : /^0*[1-9]?0*$/).test(digitsOf(value, decimals));

// Zeros before and after the digits of the answer, `a`, are none of them.
function areExchanged(a, b) {
  const at = [...a].findIndex((digit, i) => digit !== b[i]);
  const [first, last] = [a.search(/[1-9]/), a.replace(/0*$/, "").length - 1];
  if (first < 0 || at < first || at + 1 > last) return false;
  const isExchange = at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
  return a.length === b.length && at + 1 < a.length && isExchange;
}

// What its digits tell, and how it compares with the correct answer in size.
function factsOfDigits({ answer, decimals: wanted }, typed) {
  const { value, decimals = wanted } = typed;
  const [size, typedSize, off] = [Math.abs(answer), Math.abs(value), Math.abs(value - answer)];
  const unit = 10 ** -decimals;
  const hasDigits = typed.decimals !== undefined && decimals <= limits["decimals with a meaning"];
  const areAlike = off <= limits.alike * size || (value === 0 && size < limits["like 0"]);
  const haveSameSign = answer < 0 === value < 0;
  const isSmallWhole = typed.decimals === 0 && typedSize < limits["small whole number"];
  return {
    "too much per cent": [100, 10].some(
      (times) => typed.isPerCent && Math.abs(times * value - answer) <= limits.closely * size,
    ),
    "says much": !saysLittle(typed) && !isSmallWhole,
    "rounded too far": decimals < wanted && areAlike && value !== 0 && off <= precisionOf(typed),
    "cut off":
      hasDigits &&
      areAlike &&
      value !== 0 &&
      decimals >= wanted &&
      Math.abs(value - Math.trunc(answer / unit) * unit) < limits.rounding * unit,
    "two digits exchanged":
      hasDigits && haveSameSign && areExchanged(digitsOf(answer, decimals), digitsOf(value, decimals)),
    close: off <= limits.close * size && !(Number.isInteger(answer) && Number.isInteger(value)),
    "other sign": answer !== 0 && value !== 0 && !haveSameSign,
    "negative answer": answer < 0,
    larger: typedSize > size,
    far: Math.max(size, typedSize) > limits.far * Math.min(size, typedSize),
    "one decimal": wanted === 1,
  };
}

// The first of some kinds that a typed number is as nearly as it would be the answer, if it were asked for.
const nearOne = (question, typed, kinds) =>
  question.recognised.find(({ kind, quantity, within = Infinity }) => {
    const off = Math.abs(typed.value - quantity);
    const size = Math.abs(quantity);
    const precision = precisionOf(typed);
    const isNote = kind === "note";
    const near = isNote ? precision : Math.min(precision, limits["near a reason"] * size);
    const isNear = off <= Math.max(near, limits["near a note"] * size) * (1 + limits.rounding) && (isNote || size > 0);
    const isRounded = !isNote && !Number.isInteger(typed.value);
    const isNearlyIt =
      (isRounded && off <= limits["next to nothing"] * size) || isSameAnswer(typed.value, quantity, question);
    return kinds.includes(kind) && isNear && off <= within && isNearlyIt;
  });

function diagnosedNumber(question, typed) {
  const facts = factsOfDigits(question, typed);
  const note = nearOne(question, typed, ["note"]);
  const near = nearOne(question, typed, ["step", "neighbor", "slip", "writing", "mistake"]);
  const bound = question.bounds.find(
    ({ least = -Infinity, most = Infinity, isWhole }) =>
      typed.value < least || typed.value > most || (isWhole && !Number.isInteger(typed.value)),
  );
  // A slip in the steps whose result has the other sign.
  const other = { ...typed, value: -typed.value };
  const turned = facts["other sign"] ? rowsFor(question, "slip", other, limits.closely) : [];
  const slip = turned.find(({ kind }) => kind === "slip");
  facts["near a note"] = note !== undefined;
  facts["near a reason"] = question.isComputed && near !== undefined;
  facts["out of bounds"] = bound !== undefined;
  facts["slip but for the sign"] = slip !== undefined;
  facts["not computed"] = !question.isComputed;
  const places = { note: note?.says, near: near?.says, bound: bound?.says, slip: slip?.says, decimals: question.decimals };
  return judgedAmong("number", question, typed, facts, places);
}

// --- shapes and words

function diagnosedShape(question, typed) {
  const [[height, width], [rightHeight, rightWidth]] = [typed.value, question.answer];
  const facts = {
    "rows right": height === rightHeight,
    "columns right": width === rightWidth,
    "columns first": height === rightWidth,
    "rows second": width === rightHeight,
  };
  return judgedAmong("shape", question, typed, facts, { axes: question.axes });
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
    const most = letters.length >= limits["letters of a long word"] ? 2 : 1;
    return letters.length >= limits["letters of a word"] && editDistance(bytes(typed), letters) <= most;
  });
  return near.length === 1 ? near[0] : undefined;
}

function diagnosedWord(question, typed) {
  const word = typed.value;
  const words = question.words ?? [];
  const isOne = words.length === 0 || words.includes(word);
  const meant = isOne ? undefined : nearestWord(word, words);
  const facts = {
    "could be asked for": isOne,
    "place of a word": /^[0-9]{1,9}$/.test(word) && Number(word) > 0 && Number(word) <= words.length,
    "one of the words in a longer answer": (typed.words ?? []).length === 1,
    "several of the words": (typed.words ?? []).length > 1,
    "nearly the answer": meant === question.answer,
    "nearly a word": meant !== undefined,
    "many words": words.length > limits["words told"],
  };
  const said = meant === undefined ? undefined : diagnosedWord(question, { value: meant }).says;
  return judgedAmong("word", question, typed, facts, {
    word,
    meant,
    those: (typed.words ?? []).join(", "),
    "said to it": said,
    words: words.join(", "),
  });
}

// --- what cannot be read

// The numbers of a list or a shape; none: it is something else.
function numbersTyped(typed) {
  const numbers = typed.replace(/[×x()[\];]/g, " ").split(/[ ,]/).filter((one) => one !== "");
  return numbers.every((one) => /^-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/.test(one)) ? numbers.map(Number) : [];
}

function unreadable(typed, question) {
  const numbers = numbersTyped(typed);
  const sum = numbers.reduce((before, number) => before + number, 0);
  const facts = {
    [`asks for a ${question.kind}`]: true,
    "one number": numbers.length === 1,
    "several numbers": numbers.length > 1,
    "more than two": numbers.length > 2,
    "number of cells":
      question.kind === "shape" && numbers.length === 1 && numbers[0] === question.answer[0] * question.answer[1],
    "not finite": question.kind === "number" && judgeTable["words of infinity"].includes(inLowerCase(typed)),
    "add up to the answer": question.kind === "number" && isSameAnswer(sum, question.answer, question),
  };
  const choices = (question.choices ?? []).map((choice, i) => String(i + 1)).join(" or ");
  return judgedBy("unreadable", { facts, places: { choices } });
}

// "right", "wrong", "convention", "unreadable" or, of a prediction, "guess", and what is said to it.
function judge(question, answer) {
  const judged = judgedAnswer(question, answer);
  return question.predicts && judged.mark === "wrong" ? { ...judged, mark: "guess" } : judged;
}

function judgedAnswer(question, answer) {
  let typed;
  try {
    typed = readAnswer(answer.trim(), question);
  } catch (error) {
    if (!(error instanceof Ambiguous)) throw error;
    return judgedBy("unreadable", { facts: { "two ways to read it": true }, places: error.ways });
  }
  if (!typed) return unreadable(answer.trim(), question);
  if (isSameAnswer(typed.value, question.answer, question)) return { mark: "right", says: "" };
  if (question.kind === "number") return diagnosedNumber(question, typed);
  return question.kind === "shape" ? diagnosedShape(question, typed) : diagnosedWord(question, typed);
}
