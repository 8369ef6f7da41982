// What the questions and the puzzles of a lesson have in common: a form, hints, what is said, and how they end.

const missesForHint = 2;

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
    this.hintButton.classList.toggle("offered", this.misses >= missesForHint);
  }

  // What a learner may do after so many misses.
  advise() {
    if (this.misses >= missesForHint && this.given < this.hints.length) return "A hint may help: press Hint.";
    return "";
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
