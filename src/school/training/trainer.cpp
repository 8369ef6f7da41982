#include "school/training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <variant>

#include "core/graph/run.hpp"
#include "core/op/backward_pass.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "school/training/loss_graph.hpp"

namespace attn {

namespace {

// Sentences come in another order than parameters from the same seed.
constexpr std::uint32_t seed_of_sentences = 0x9e3779b9;

std::string text_of_generator(const Generator& generator) {
  std::ostringstream text;
  text << generator;
  return text.str();
}

Generator generator_from(const std::string& text) {
  Generator generator;
  std::istringstream(text) >> generator;
  return generator;
}

// Embeddings that are multiplied by √d_model, or are the output layer too, begin smaller by it: what goes into the
// first layer, or the logits, would be large otherwise. Then what is learned of positions begins as small as embeddings
// do. (Vaswani et al. 2017, section 3.4)
void shrink_embeddings(Transformer& model) {
  const ModelRecipe& recipe = model.recipe;
  if (!recipe.scale_embeddings && !recipe.tied_output) return;
  const double divisor = std::sqrt(static_cast<double>(model.sizes.d_model));
  const auto shrink = [&](const Name& name) {
    const auto found = model.parameters.find(name.text());
    if (found == model.parameters.end()) return;
    Matrix smaller = *found->second;
    for (double& cell : cells(smaller)) cell /= divisor;
    found->second = std::make_shared<const Matrix>(std::move(smaller));
  };
  for (const ScopeKind* side : {&scope::source_embedding, &scope::target_embedding}) shrink(Name({*side}, role::e));
  if (recipe.scale_embeddings) return;
  for (const ScopeKind* side : {&scope::source_positions, &scope::target_positions}) shrink(Name({*side}, role::table));
}

TrainingState beginning(const Task& task, const TaskRequest& request, const TrainingOptions& options) {
  TrainingState state{.task = std::string(task.name), .request = request, .options = options};
  state.model = set_up(task, request).model;
  draw_parameters(state.model, options.seed);
  if (auto* const transformer = std::get_if<Transformer>(&state.model)) shrink_embeddings(*transformer);
  for (const auto& [name, matrix] : matrices_of(state.model))
    state.moments.emplace(name, Moments{Matrix(matrix->shape(), 0.0), Matrix(matrix->shape(), 0.0)});
  state.generator = text_of_generator(Generator(options.seed ^ seed_of_sentences));
  return state;
}

// The gradient of a parameter, and what it changes.
struct Learning {
  std::string name;
  std::shared_ptr<Matrix> parameter;
  Moments* moments;
  const Node* gradient;
};

}  // namespace

struct Trainer::Parts {
  explicit Parts(TrainingState its_state)
      : task(look_up(tasks(), its_state.task, "task")),
        setup(set_up(task, its_state.request)),
        state(std::move(its_state)),
        generator(generator_from(state.generator)) {
    if (state.options.examples > 0)
      few = few_examples(setup.data, state.options.examples, Generator(state.options.seed ^ seed_of_sentences));
    take_own_parameters();
    build();
    evaluator.emplace(state.model, held_out_examples(setup.data, setup.held_out));
  }

  // Cells that change belong to nobody else.
  void take_own_parameters() {
    for (auto& [name, matrix] : matrices_of(state.model)) {
      auto own = std::make_shared<Matrix>(*matrix);
      matrix = own;
      learning.push_back({name, std::move(own), &state.moments.at(name), nullptr});
    }
  }

  // Forward, and back to every parameter that something flows back to.
  void build() {
    BatchShape shape = setup.data.longest;
    shape.sentences = state.options.batch;
    graph.emplace(state.model, shape, state.options.smoothing, state.options.dropout);
    std::vector<const Node*> parameters;
    for (const Learning& one : learning) parameters.push_back(&graph->graph().at(one.name));
    const Value& loss = graph->loss();
    const Value one =
        graph->graph().input(Name{family::gradient, role::loss}, Matrix({1, 1}, 1.0), axis("loss"), axis("loss"));
    const Backward backward(loss, one, parameters);
    std::vector<const Node*> wanted = {&loss.node()};
    for (std::size_t i = 0; i < learning.size(); ++i) {
      learning[i].gradient = backward.by(*parameters[i]);
      if (learning[i].gradient) wanted.push_back(learning[i].gradient);
    }
    std::erase_if(learning, [](const Learning& each) { return !each.gradient; });
    plan = graph->graph().run().plan_to_repeat(wanted);
  }

  TaskExample next_example() {
    return few.empty() ? training_example(setup.data, generator) : few[uniform_index(few.size(), generator)];
  }

  StepReport step();
  const Node* first_not_finite() const;
  void require_finite(const StepReport& report) const;
  [[noreturn]] void stop(const std::string& matrix, std::size_t step) const;
  void add_point();
  std::string sample() const;

  const Task& task;
  TaskSetup setup;
  TrainingState state;
  Generator generator;
  std::vector<TaskExample> few;    // all that it is trained on; empty: any sentences of the task
  std::vector<Learning> learning;  // by name
  std::optional<LossGraph> graph;
  Plan plan;
  mutable std::optional<Evaluator> evaluator;
};

StepReport Trainer::Parts::step() {
  if (state.curve.empty()) add_point();
  const TrainingOptions& options = state.options;
  std::vector<TaskExample> examples;
  for (std::size_t i = 0; i < options.batch; ++i) examples.push_back(next_example());
  graph->put(batch_of(examples, graph->shape()));
  graph->draw_dropout(generator);
  graph->graph().run().repeat(plan);
  std::vector<const Matrix*> gradients;
  for (const Learning& one : learning) gradients.push_back(&one.gradient->matrix());
  StepReport report{.step = state.step + 1, .loss = graph->loss().matrix()(0, 0), .gradient_norm = norm_of(gradients)};
  require_finite(report);
  const AdamStep adam(options, report.step, clipping(report.gradient_norm, options.clip));
  report.rate = adam.numbers.rate;
  for (std::size_t i = 0; i < learning.size(); ++i)
    adam.apply(*learning[i].parameter, *gradients[i], *learning[i].moments);
  for (const Learning& one : learning) {
    if (!is_finite(cells(*one.parameter))) stop(one.name, report.step);
  }
  state.step = report.step;
  ++state.next.steps;
  state.next.loss += report.loss;
  state.next.gradient_norm += report.gradient_norm;
  state.next.rate = report.rate;
  if (state.step == 1) {
    state.curve.front().loss = report.loss;
    state.curve.front().gradient_norm = report.gradient_norm;
  }
  if (state.step % options.evaluate_every == 0 || state.step == options.steps) add_point();
  return report;
}

void Trainer::Parts::add_point() {
  CurvePoint point = state.next;
  point.step = state.step;
  if (point.steps > 0) {
    point.loss /= static_cast<double>(point.steps);
    point.gradient_norm /= static_cast<double>(point.steps);
  }
  point.held_out = evaluator->evaluate();
  point.sample = sample();
  state.curve.push_back(point);
  state.next = {};
}

// As far as a window goes.
std::string Trainer::Parts::sample() const {
  const auto* const model = std::get_if<Transformer>(&state.model);
  if (!model || setup.prompt.empty()) return "";
  const std::size_t room = setup.data.longest.given - setup.prompt.size() + 1;
  const Ids ids = sampled_continuation(*model, setup.prompt, room, temperature_of_samples);
  return line_of(setup.words, words_of(ids, model->target_vocabulary));
}

// Computes the step once more, matrix by matrix. Scores that are masked are −∞.
const Node* Trainer::Parts::first_not_finite() const {
  for (const Node& node : graph->graph().nodes()) {
    if (!node.op || node.is_alias()) continue;
    const bool may_be_masked = node.may_be_masked();
    const auto is_wrong = [&](double cell) {
      return !std::isfinite(cell) && !(may_be_masked && std::isinf(cell) && cell < 0.0);
    };
    if (std::ranges::any_of(cells(node.matrix()), is_wrong)) return &node;
  }
  return nullptr;
}

void Trainer::Parts::require_finite(const StepReport& report) const {
  if (std::isfinite(report.loss) && std::isfinite(report.gradient_norm)) return;
  const Node* const node = first_not_finite();
  stop(node ? node->title() : "the norm of the gradient", report.step);
}

// A step that is too large is by far the most frequent reason, above all without clipping.
void Trainer::Parts::stop(const std::string& matrix, std::size_t step) const {
  const TrainingOptions& options = state.options;
  fail(
      "training stopped at step {}: {} has the first number that is not finite. "
      "The steps may be too large (learning rate {:.3g}{}): give {}",
      step, matrix, options.schedule->rate(options, step), options.clip == 0.0 ? ", no clipping" : "",
      options.clip == 0.0 ? "--clip 1 or a smaller --rate" : "a smaller --rate or a longer --warm-up");
}

Trainer::Trainer(const Task& task, const TaskRequest& request, const TrainingOptions& options)
    : Trainer(beginning(task, request, options)) {}

Trainer::Trainer(TrainingState state) : parts_(std::make_unique<Parts>(std::move(state))) {}

Trainer::~Trainer() = default;

bool Trainer::is_done() const { return parts_->state.step >= parts_->state.options.steps; }

StepReport Trainer::step() { return parts_->step(); }

TrainingState Trainer::state() const {
  TrainingState state = parts_->state;
  state.model = model();
  state.generator = text_of_generator(parts_->generator);
  return state;
}

TrainedModel Trainer::model() const {
  TrainedModel model = parts_->state.model;
  for (auto& [name, matrix] : matrices_of(model)) matrix = std::make_shared<const Matrix>(*matrix);
  return model;
}

const std::vector<CurvePoint>& Trainer::curve() const { return parts_->state.curve; }

const TrainingOptions& Trainer::options() const { return parts_->state.options; }

const Task& Trainer::task() const { return parts_->task; }

const TaskSetup& Trainer::setup() const { return parts_->setup; }

std::size_t Trainer::steps_done() const { return parts_->state.step; }

const std::vector<TaskExample>& Trainer::held_out() const { return parts_->evaluator->examples(); }

Evaluation Trainer::evaluate() const { return parts_->evaluator->evaluate(); }

Work Trainer::work_of_step() const { return work_of(parts_->graph->graph()); }

}  // namespace attn
