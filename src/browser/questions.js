// The questions of a lesson: each is answered, hinted at and judged where it stands.

const missesForFirstStep = 3;

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
    this.stepButton.hidden = this.isAnswered() || !hasStep || this.misses < missesForFirstStep;
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
    this.miss(says || "Try again.");
    this.follow(this);
  }

  advise() {
    const hasStep = this.misses >= missesForFirstStep && this.question.first !== undefined;
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
    else if (end === "right") this.say("Correct: ", `${this.question.shown}.`);
    else this.say("The answer is ", `${this.question.shown}.`);
    this.offer();
    this.follow(this);
  }
}
