// How the model of a page was trained: its curve, and at each step that was kept the maps of all heads.

const widthOfCurve = 300;
const heightOfCurve = 84;
const pauseOfStages = 350; // milliseconds

class Training {
  // `showMaps` is told the weights of each head at a step; undefined: those of now.
  constructor(box, training, computation, { showMaps }) {
    Object.assign(this, { box, training, computation, showMaps });
    box.hidden = !training;
    if (!training) return;
    this.stages = training.maps;
    this.title = element("p", { class: "title" });
    this.curve = svgOf("svg", { class: "curve", viewBox: `0 0 ${widthOfCurve} ${heightOfCurve}`, "aria-hidden": "true" });
    this.slider = element("input", { type: "range", min: 0, max: this.stages.length - 1, step: 1, "aria-label": "step of the training" });
    this.slider.value = this.stages.length - 1;
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    this.button = element("button", { type: "button", "aria-pressed": "false" }, "Play");
    this.button.addEventListener("click", () => this.play(this.timer === undefined));
    box.append(this.title, this.curve, element("div", { class: "controls" }, this.slider, this.button));
    this.drawCurve();
    this.show(this.stages.length - 1);
  }

  x(step) {
    return (step / this.training.steps.at(-1)) * widthOfCurve;
  }

  drawCurve() {
    const { steps, loss, held_out = [], guessing } = this.training;
    const most = Math.max(guessing, ...loss, ...held_out);
    const y = (value) => heightOfCurve - 3 - (value / most) * (heightOfCurve - 8);
    const line = (values, name) =>
      svgOf("polyline", { class: name, points: values.map((value, i) => `${this.x(steps[i])},${y(value)}`).join(" ") });
    const guess = svgOf("line", { class: "guessing", x1: 0, x2: widthOfCurve, y1: y(guessing), y2: y(guessing) });
    this.marker = svgOf("line", { class: "marker", y1: 0, y2: heightOfCurve });
    this.curve.append(guess, line(loss, "loss"), line(held_out, "held-out"), this.marker);
  }

  // The maps of the training are of the words and numbers that were given: after a change only those of now are left.
  follow(isChanged) {
    if (!this.training) return;
    if (isChanged) {
      this.play(false);
      this.slider.value = this.stages.length - 1;
      this.show(this.stages.length - 1);
    }
    this.slider.disabled = this.button.disabled = isChanged;
  }

  // The point of the curve that is at a step or before it.
  pointAt(step) {
    return this.training.steps.findLastIndex((one) => one <= step);
  }

  show(stage) {
    const { step, weights } = this.stages[stage];
    const { steps, loss, held_out, accuracy } = this.training;
    const at = Math.max(0, this.pointAt(step));
    const parts = [`loss ${writtenFixed(loss[at], 3)}`];
    if (held_out) parts.push(`on held-out sentences ${writtenFixed(held_out[at], 3)}`);
    if (accuracy) parts.push(`${writtenFixed(100 * accuracy[at], 0)} % of words right there`);
    const isLast = stage === this.stages.length - 1;
    const measured = steps[at] === step ? "" : ` (measured at step ${steps[at]})`;
    this.title.textContent = `Maps after step ${step} of ${steps.at(-1)}; ${parts.join(", ")}${measured}`;
    for (const end of ["x1", "x2"]) this.marker.setAttribute(end, this.x(step));
    this.showMaps(isLast ? undefined : new Map(weights.map(({ node, numbers }) => [this.computation.nodes[node], numbers])));
  }

  play(isPlaying) {
    clearInterval(this.timer);
    this.timer = undefined;
    this.button.textContent = isPlaying ? "Pause" : "Play";
    this.button.setAttribute("aria-pressed", String(isPlaying));
    if (!isPlaying) return;
    const last = this.stages.length - 1;
    if (Number(this.slider.value) === last) this.slider.value = 0;
    this.timer = setInterval(() => {
      this.show(Number(this.slider.value));
      if (Number(this.slider.value) === last) this.play(false);
      else this.slider.value = Number(this.slider.value) + 1;
    }, pauseOfStages);
  }
}
