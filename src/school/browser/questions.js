// What the questions and the puzzles of a lesson have in common: a form, hints, what is said, and how they end.

// What was answered, in the browser where it allows that: by the key of a question or a puzzle, the last answer,
// whether it is right, whether the first was, and how it ended without being right.
// A choice may be a sentence, and have its full stop.
const withFullStop = (words) => (words.endsWith(".") ? words : `${words}.`);

class Kept {
  constructor(name) {
    this.name = `attn lesson ${name}`;
    this.answers = this.read();
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(this.name)) ?? {};
    } catch {
      return {}; // not allowed, or damaged
    }
  }

  keep(key, answer) {
    this.answers[key] = { ...answer, first: this.answers[key]?.first ?? answer.right };
    this.write();
  }

  // A question that ends otherwise: its answer was shown, or it was skipped.
  pass(key, end) {
    this.answers[key] = { text: "", right: false, ...this.answers[key], end };
    this.write();
  }

  forget() {
    this.answers = {};
    this.write();
  }

  write() {
    try {
      localStorage.setItem(this.name, JSON.stringify(this.answers));
      this.isKept = true;
    } catch {
      this.isKept = false;
    }
  }
}

// A form where a question or a puzzle stands.
class LessonForm {
  // `hints` are those that attn wrote; `follow` is called when something was answered.
  constructor(section, hints, { kept, follow }) {
    Object.assign(this, { section, hints, kept, follow });
    this.verdict = element("div", { class: "verdict", role: "status" });
    this.help = element("div", { class: "help", role: "status" });
    this.hintButton = this.button("Hint", () => this.hint());
  }

  button(title, act) {
    const made = element("button", { type: "button" }, title);
    made.addEventListener("click", act);
    return made;
  }

  // What is filled in, and the buttons, of which the first one checks.
  makeForm(filledIn, ...buttons) {
    const check = element("button", { type: "submit", class: "check" }, "Check");
    const form = element("form", { class: "reply" }, ...filledIn, check, ...buttons);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
    return form;
  }

  // Open again, as if nothing had been answered.
  open() {
    this.misses = 0;
    this.given = 0; // of the hints
    this.end = undefined; // "right", "shown" or "skipped", once it is over
    this.section.dataset.state = "open";
    this.verdict.replaceChildren();
    this.help.replaceChildren();
  }

  // A hint is there from the beginning, and is pointed to after some misses.
  offerHint(isOver) {
    const count = this.hints.length;
    this.hintButton.hidden = isOver || this.given >= count;
    this.hintButton.textContent = count > 1 ? `Hint ${Math.min(this.given + 1, count)} of ${count}` : "Hint";
    this.hintButton.classList.toggle("offered", this.misses >= limits["misses before a hint"]);
  }

  // What a learner may do after so many misses.
  advise() {
    const isOffered = this.misses >= limits["misses before a hint"] && this.given < this.hints.length;
    return isOffered ? "A hint may help: press Hint." : "";
  }

  miss(...sentences) {
    ++this.misses;
    this.say("Not yet. ", ...sentences);
    const advice = this.advise();
    if (advice) this.verdict.append(element("p", { class: "advice" }, advice));
    this.offer();
  }

  say(strong, ...sentences) {
    const lines = sentences.map((sentence, i) =>
      element("p", {}, i === 0 && strong ? element("strong", {}, strong) : "", sentence),
    );
    this.verdict.replaceChildren(...lines);
  }

  // A line of help: its title, and what follows it.
  helpWith(title, ...rest) {
    this.help.append(element("p", {}, element("strong", {}, title), ...rest));
  }

  hint() {
    this.verdict.querySelector(".advice")?.remove();
    const count = this.hints.length;
    this.helpWith(count > 1 ? `Hint ${this.given + 1} of ${count}: ` : "Hint: ", this.hints[this.given++]);
    this.offer();
  }
}

// The questions of a lesson: each is answered, hinted at and judged where it stands.

class QuestionForm extends LessonForm {
  constructor(section, question, number, lesson) {
    super(section, question.hints ?? [], lesson);
    Object.assign(this, { question, number });
    this.stepButton = this.button("First step", () => this.firstStep());
    this.answerButton = this.button("Show the answer", () => this.showAnswer());
    this.skipButton = this.button("Skip", () => this.skip());
    const filledIn = question.kind === "choice" ? this.makeChoices() : this.makeField();
    const buttons = [this.hintButton, this.stepButton, this.answerButton, this.skipButton];
    section.append(this.makeForm([filledIn], ...buttons), this.verdict, this.help);
    this.clear();
    const answered = this.kept.answers[question.key];
    if (!answered) return;
    this.write(answered.text);
    if (answered.right) this.close("right");
    else if (answered.end) this.close(answered.end);
  }

  // --- its parts

  makeField() {
    this.field = element("input", {
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-describedby": `question-${this.number + 1}`,
    });
    return element("label", {}, "Your answer ", this.field);
  }

  // The choices become buttons of a set; 1, 2 and so on choose them too.
  makeChoices() {
    const name = `answer-${this.number + 1}`;
    const set = element("fieldset", { class: "choices", "aria-labelledby": `question-${this.number + 1}` });
    this.options = this.question.choices.map((choice, i) => {
      const option = element("input", { type: "radio", name, value: choice });
      set.append(element("label", {}, option, ` ${i + 1}. ${choice}`));
      return option;
    });
    set.addEventListener("keydown", ({ key }) => {
      const option = this.options[Number(key) - 1];
      if (!option) return;
      option.checked = true;
      option.focus();
    });
    this.section.querySelector("ol.choices").remove();
    return set;
  }

  typed() {
    return this.field ? this.field.value : (this.options.find((option) => option.checked)?.value ?? "");
  }

  write(text) {
    if (this.field) this.field.value = text;
    else for (const option of this.options) option.checked = option.value === text;
  }

  // --- answering

  clear() {
    this.open();
    this.hasStep = false;
    this.write("");
    this.offer();
  }

  // Help that is there for as many misses; the answer is always shown on request.
  offer() {
    this.offerHint(this.isAnswered());
    const hasStep = this.question.first !== undefined && !this.hasStep;
    this.stepButton.hidden = this.isAnswered() || !hasStep || this.misses < limits["misses before the first step"];
    this.stepButton.classList.toggle("offered", true);
    this.answerButton.hidden = this.isAnswered();
    this.skipButton.hidden = this.end !== undefined;
  }

  // What was skipped can still be answered.
  isAnswered() {
    return this.end === "right" || this.end === "shown";
  }

  check() {
    const typed = this.typed();
    const { mark, says } = judge(this.question, typed);
    this.section.dataset.state = mark;
    if (mark === "unreadable") return this.say("", says);
    if (mark === "convention") return this.say("Another convention. ", says);
    this.kept.keep(this.question.key, { text: typed, right: mark === "right" });
    if (mark === "right") return this.close("right");
    if (mark === "guess") return this.tellPrediction(says);
    this.miss(says || "Try again.");
    this.follow(this);
  }

  // A prediction is over with the first guess: what comes out is told.
  tellPrediction(says) {
    this.kept.pass(this.question.key, "shown");
    this.close("shown");
    if (says) this.verdict.append(element("p", {}, says));
  }

  advise() {
    const hasStep = this.misses >= limits["misses before the first step"] && this.question.first !== undefined;
    return hasStep ? "The first step of the solution can be shown now." : super.advise();
  }

  firstStep() {
    this.hasStep = true;
    this.helpWith("First step: ", this.question.first);
    this.offer();
  }

  showAnswer() {
    if (!this.kept.answers[this.question.key]?.right) {
      this.kept.keep(this.question.key, { text: this.typed(), right: false });
      this.kept.pass(this.question.key, "shown");
    }
    this.close("shown");
  }

  skip() {
    this.kept.pass(this.question.key, "skipped");
    this.close("skipped");
  }

  close(end) {
    this.end = end;
    if (end !== "skipped") this.section.dataset.state = end;
    if (end === "skipped") this.say("", "Skipped. It can still be answered.");
    else if (end === "right") this.say("Correct: ", withFullStop(this.question.shown));
    else this.say(this.question.predicts ? "What comes out is " : "The answer is ", `${this.question.shown}.`);
    this.offer();
    this.follow(this);
  }
}
