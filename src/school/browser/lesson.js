// The page of a lesson: its questions, and what its commands have computed.

class LessonPage {
  constructor(data) {
    this.data = data;
    this.lesson = data.lesson;
    this.kept = new Kept(this.lesson.name);
    byId("live").hidden = false;
    this.changes = [...document.querySelectorAll("[data-computation]")].map((body) => this.liveResult(body));
    const follow = () => this.follow();
    this.puzzles = [...document.querySelectorAll("section.puzzle")]
      .filter((section) => this.puzzleOf(section).inputs.length > 0)
      .map((section) => {
        const { computations } = this.data;
        return new PuzzleForm(section, this.puzzleOf(section), { computations, kept: this.kept, follow });
      });
    this.results = [...this.changes, ...this.puzzles.flatMap((puzzle) => puzzle.results)];
    this.grids = new Grids(this.results, { precision: 4, reveal: () => {} });
    for (const puzzle of this.puzzles) {
      puzzle.refresh = (result) => this.grids.refresh(result);
      puzzle.showNumbers();
    }
    this.tellAgreement();
    this.questions = [...document.querySelectorAll("section.question")].map(
      (section, i) => new QuestionForm(section, this.lesson.questions[i], i, { kept: this.kept, follow }),
    );
    this.offerWhole();
    this.offerToBeginAnew();
    this.follow();
  }

  puzzleOf(section) {
    return this.lesson.puzzles[section.dataset.puzzle];
  }

  // The computation behind a result, which can be changed for itself.
  liveResult(body) {
    const computation = new Computation(this.data.computations[body.dataset.computation]);
    computation.compute();
    const parts = element("fieldset", { class: "parts" }, element("legend", {}, "Leave out"));
    const button = (name, title) => element("button", { type: "button", class: name, disabled: "" }, title);
    const [undo, redo, reset] = [button("undo", "Undo"), button("redo", "Redo"), button("reset", "Undo all changes")];
    const status = element("span", { class: "changed", role: "status" });
    body.append(element("div", { class: "changes" }, parts, undo, redo, reset, status));
    const changes = new Changes(computation, {
      body,
      parts,
      undo,
      redo,
      reset,
      status,
      follow: (sentence) => {
        this.grids.refresh(changes);
        changes.tell(sentence);
      },
      followers: "The tables of this command follow, and so do explanations. Sentences were written before.",
    });
    return changes;
  }

  tellAgreement() {
    const status = byId("agreement");
    if (!status) return; // nothing on this page computes
    const untouched = this.results.filter(({ computation }) => !computation.isChanged());
    if (tellAgreement(status, untouched.map(({ computation }) => computation))) return;
    byId("about-tables").open = true;
    for (const result of this.results) this.grids.refresh(result);
  }

  // What shows an answer is opened when all its questions are over; the score is told.
  follow() {
    if (!this.questions) return;
    for (const box of document.querySelectorAll("details.solution")) {
      const all = box.dataset.answers.split(" ").map((i) => this.questions[i]);
      if (all.every((question) => question.end) && !box.dataset.wasOpened) {
        box.open = true;
        box.dataset.wasOpened = "yes";
      }
    }
    this.showUpToNext();
    this.tellScore();
  }

  // What follows a question that is open comes when it is over, as at a terminal; on paper everything is there.
  showUpToNext() {
    const forms = [...this.questions, ...this.puzzles];
    const open = forms.filter(({ end }) => end === undefined).map(({ section }) => section);
    let isLater = false;
    for (const part of document.querySelector("main").children) {
      if (["SCRIPT", "NOSCRIPT"].includes(part.tagName) || part.id === "explanation") continue;
      part.classList.toggle("later", isLater && !this.isWhole);
      isLater ||= open.some((section) => part.contains(section));
    }
    if (byId("steps")) byId("steps").hidden = this.isWhole || !isLater;
  }

  offerWhole() {
    byId("all")?.addEventListener("click", () => {
      this.isWhole = true;
      this.follow();
    });
  }

  tellScore() {
    const counted = this.lesson.questions.filter(({ predicts }) => !predicts);
    const answers = counted.map(({ key }) => this.kept.answers[key]);
    const first = answers.filter((answer) => answer?.right && answer.first).length;
    const later = answers.filter((answer) => answer?.right && !answer.first).length;
    const open = answers.length - first - later;
    const questions = answers.length === 1 ? "1 question" : `${answers.length} questions`;
    const parts = [`${first} correct at the first try`];
    if (later > 0) parts.push(`${later} later`);
    if (open > 0) parts.push(`${open} not yet`);
    const isLost = this.kept.isKept === false ? " This browser does not keep your answers." : "";
    byId("score").textContent = `${questions}: ${parts.join(", ")}.${isLost}`;
    this.again.disabled = Object.keys(this.kept.answers).length === 0;
  }

  offerToBeginAnew() {
    this.again = element("button", { type: "button", id: "again" }, "Forget my answers");
    this.again.addEventListener("click", () => {
      this.kept.forget();
      for (const form of [...this.questions, ...this.puzzles]) form.clear();
      for (const box of document.querySelectorAll("details.solution")) {
        box.open = false;
        delete box.dataset.wasOpened;
      }
      this.follow();
    });
    byId("score").after(this.again);
  }
}

const page = new LessonPage(JSON.parse(byId("data").textContent));
