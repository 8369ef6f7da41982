// The questions of a lesson: each is answered, hinted at and judged where it stands.

const missesForHint = 2;
const missesForFirstStep = 3;

// What was answered, in the browser where it allows that: by the key of a question or a puzzle, the last answer,
// whether it is right, whether the first was, and how it ended without being right.
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

class QuestionForm {
  // `question` is what attn wrote; `follow` is called when something was answered.
  constructor(section, question, number, { kept, follow }) {
    Object.assign(this, { section, question, number, kept, follow });
    this.makeForm();
    this.clear();
    const answered = this.kept.answers[question.key];
    if (!answered) return;
    this.write(answered.text);
    if (answered.right) this.close("right");
    else if (answered.end) this.close(answered.end);
  }

  // --- its parts

  makeForm() {
    this.verdict = element("div", { class: "verdict", role: "status" });
    this.help = element("div", { class: "help", role: "status" });
    const button = (title, act) => {
      const made = element("button", { type: "button" }, title);
      made.addEventListener("click", act);
      return made;
    };
    this.hintButton = button("Hint", () => this.hint());
    this.stepButton = button("First step", () => this.firstStep());
    this.answerButton = button("Show the answer", () => this.showAnswer());
    this.skipButton = button("Skip", () => this.skip());
    const form = element(
      "form",
      { class: "reply" },
      this.question.kind === "choice" ? this.makeChoices() : this.makeField(),
      element("button", { type: "submit", class: "check" }, "Check"),
      this.hintButton,
      this.stepButton,
      this.answerButton,
      this.skipButton,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
    this.section.append(form, this.verdict, this.help);
  }

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
    this.misses = 0;
    this.hasStep = false;
    this.hints = 0;
    this.end = undefined; // "right", "shown" or "skipped", once it is over
    this.write("");
    this.section.dataset.state = "open";
    this.verdict.replaceChildren();
    this.help.replaceChildren();
    this.offer();
  }

  // Help that is there for as many misses; the answer is always shown on request.
  offer() {
    const hints = this.question.hints ?? [];
    this.hintButton.hidden = this.isAnswered() || this.hints >= hints.length;
    this.hintButton.textContent =
      hints.length > 1 ? `Hint ${Math.min(this.hints + 1, hints.length)} of ${hints.length}` : "Hint";
    this.hintButton.classList.toggle("offered", this.misses >= missesForHint);
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
    ++this.misses;
    this.say("Not yet. ", says || "Try again.");
    this.adviseHelp();
    this.offer();
    this.follow(this);
  }

  adviseHelp() {
    if (this.misses < missesForHint) return;
    const hasHint = this.hints < (this.question.hints ?? []).length;
    const hasStep = this.misses >= missesForFirstStep && this.question.first !== undefined;
    const advice = hasStep
      ? "The first step of the solution can be shown now."
      : hasHint
        ? "A hint may help: press Hint."
        : "";
    if (advice) this.verdict.append(element("p", { class: "advice" }, advice));
  }

  say(strong, sentence) {
    this.verdict.replaceChildren(element("p", {}, strong ? element("strong", {}, strong) : "", sentence));
  }

  hint() {
    this.verdict.querySelector(".advice")?.remove();
    const { hints } = this.question;
    const which = hints.length > 1 ? `Hint ${this.hints + 1} of ${hints.length}: ` : "Hint: ";
    this.help.append(element("p", {}, element("strong", {}, which), hints[this.hints++]));
    this.offer();
  }

  firstStep() {
    this.hasStep = true;
    this.help.append(element("p", {}, element("strong", {}, "First step: "), this.question.first));
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
