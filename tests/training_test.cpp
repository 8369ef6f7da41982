#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/math/machine.hpp"
#include "core/model/generation.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_file.hpp"
#include "models.hpp"
#include "school/training/loss_graph.hpp"
#include "school/training/trainer.hpp"
#include "school/training/training_page.hpp"

using namespace attn;

namespace {

const Task& task_called(std::string_view name) { return look_up(tasks(), name, "task"); }

const std::vector<TextPair> own_pairs = {{"one two", "two one"},
                                         {"two three", "three two"},
                                         {"three one", "one three"},
                                         {"one one two", "two one one"},
                                         {"two", "two"},
                                         {"three three one", "one three three"}};

TaskRequest request_of(const Task& task) {
  TaskRequest request;
  if (task.needs_pairs) request.pairs = own_pairs;
  return request;
}

// The defaults of a task, for a few small steps.
TrainingOptions few_steps(const Task& task, std::size_t steps) {
  TrainingOptions options = set_up(task, request_of(task)).defaults;
  options.steps = steps;
  options.batch = 4;
  options.evaluate_every = steps;
  return options;
}

TrainingState trained(const Task& task, const TrainingOptions& options) {
  Trainer trainer(task, request_of(task), options);
  while (!trainer.is_done()) trainer.step();
  return trainer.state();
}

void check_same_matrices(const TrainedModel& a, const TrainedModel& b) {
  REQUIRE(matrices_of(a).size() == matrices_of(b).size());
  for (const auto& one : matrices_of(a)) {
    CAPTURE(one.first);
    CHECK(*one.second == *matrices_of(b).find(one.first)->second);
  }
}

}  // namespace

TEST_CASE("every task has sentences that fit its model and never trains on those held out") {
  for (const Task& task : tasks()) {
    CAPTURE(task.name);
    const TaskSetup setup = set_up(task, request_of(task));
    const BatchShape& longest = setup.data.longest;
    const std::size_t words = words_out(setup.model).size();
    std::set<Ids> held_out;
    for (const TaskExample& example : held_out_examples(setup.data, setup.held_out))
      held_out.insert(example.source.empty() ? example.given : example.source);
    CHECK(!held_out.empty());
    Generator generator(1);
    for (int i = 0; i < 200; ++i) {
      const TaskExample example = training_example(setup.data, generator);
      CHECK(example.source.size() <= longest.source);
      CHECK(example.given.size() <= longest.given);
      CHECK(example.expected.size() <= longest.expected);
      CHECK(example.expected.size() == std::max(example.source.size() * example.given.empty(), example.given.size()));
      CHECK(std::ranges::all_of(example.expected, [&](std::size_t id) { return id >= 1 && id <= words; }));
      CHECK(!held_out.contains(example.source.empty() ? example.given : example.source));
    }
  }
}

TEST_CASE("the loss falls in a few steps of every task") {
  for (const Task& task : tasks()) {
    CAPTURE(task.name);
    TrainingOptions options = few_steps(task, 12);
    options.warm_up = 0;
    options.rate = 3e-3;
    Trainer trainer(task, request_of(task), options);
    while (!trainer.is_done()) {
      const StepReport report = trainer.step();
      CHECK(report.rate > 0.0);
      CHECK(report.gradient_norm > 0.0);
    }
    const std::vector<CurvePoint>& curve = trainer.curve();
    REQUIRE(curve.size() == 2);
    CHECK(curve.front().step == 0);
    CHECK(curve.back().step == 12);
    CHECK(curve.back().held_out.loss < curve.front().held_out.loss);
  }
}

TEST_CASE("a goal is reached from exactly its share on") {
  for (const Task& task : tasks()) {
    CAPTURE(task.name);
    Evaluation evaluation{.words = 1000};
    CHECK(!reaches_goal(task, {}));
    evaluation.right_words = 1000;
    CHECK(reaches_goal(task, evaluation) == (task.goal > 0.0));
    evaluation.right_words = static_cast<std::size_t>(std::lround(1000.0 * task.goal));
    CHECK(reaches_goal(task, evaluation) == (task.goal > 0.0));
    if (evaluation.right_words == 0) continue;
    --evaluation.right_words;
    CHECK(!reaches_goal(task, evaluation));
  }
}

TEST_CASE("the same seed trains the same bits with any number of threads") {
  const Task& task = task_called("reverse");
  const TrainingOptions options = few_steps(task, 3);
  const TrainingState one = trained(task, options);
  use_threads(1);
  const TrainingState alone = trained(task, options);
  use_threads(4);
  const TrainingState together = trained(task, options);
  use_threads(0);
  check_same_matrices(one.model, alone.model);
  check_same_matrices(one.model, together.model);
  TrainingOptions other = options;
  ++other.seed;
  CHECK(bytes_of(trained(task, other)) != bytes_of(one));
}

TEST_CASE("training that goes on from a file gives the bits of one that never stopped") {
  for (const std::string_view name : {"induction", "dates", "pairs"}) {
    const Task& task = task_called(name);
    CAPTURE(name);
    TrainingOptions options = few_steps(task, 4);
    options.evaluate_every = 3;
    const TrainingState whole = trained(task, options);
    Trainer first(task, request_of(task), options);
    first.step();
    first.step();
    Trainer second(read_state(bytes_of(first.state()), "state"));
    CHECK(second.steps_done() == 2);
    while (!second.is_done()) second.step();
    CHECK(bytes_of(second.state()) == bytes_of(whole));
  }
}

TEST_CASE("training with dropout goes on from a file as if it had never stopped, and is no other without dropout") {
  const Task& task = task_called("induction");
  TrainingOptions options = few_steps(task, 4);
  const TrainingState without = trained(task, options);
  options.dropout = 0.3;
  options.examples = 5;
  const TrainingState whole = trained(task, options);
  CHECK(whole.curve.back().loss != without.curve.back().loss);
  Trainer first(task, request_of(task), options);
  first.step();
  first.step();
  Trainer second(read_state(bytes_of(first.state()), "state"));
  while (!second.is_done()) second.step();
  CHECK(bytes_of(second.state()) == bytes_of(whole));
}

TEST_CASE("dropout leaves out the share that it is given and keeps the mean, and only Transformers have it") {
  Graph graph;
  const Value x = graph.input(role::x, Matrix({100, 100}, 2.0), axis("a"), axis("b"));
  Dropout dropout(0.2);
  const Value kept = dropout.apply(x, 1);
  CHECK(close(kept.matrix(), Matrix({100, 100}, 2.5), 1e-12));  // nothing is left out before it is drawn
  Graph other;
  Dropout drawn(0.2);
  const Value left = drawn.apply(other.input(role::x, Matrix({100, 100}, 2.0), axis("a"), axis("b")), 1);
  Generator generator(1);
  drawn.draw(generator);
  const std::span<const double> all = cells(left.matrix());
  const auto zeros = static_cast<double>(std::ranges::count(all, 0.0));
  CHECK(std::fabs(zeros / 10'000.0 - 0.2) < 0.02);
  CHECK(std::ranges::all_of(all, [](double cell) { return cell == 0.0 || std::fabs(cell - 2.5) < 1e-12; }));
  TrainingOptions options = few_steps(task_called("dates"), 1);
  options.dropout = 0.1;
  check_refused({{"dropout is for Transformers", [&] { trained(task_called("dates"), options); }}});
}

TEST_CASE("a training on few sentences sees no others, and they are different") {
  const Task& task = task_called("reverse");
  const TaskSetup setup = set_up(task, {});
  const std::vector<TaskExample> few = few_examples(setup.data, 12, Generator(3));
  std::set<Ids> different;
  for (const TaskExample& example : few) different.insert(example.source);
  CHECK(different.size() == 12);
  for (const TaskExample& example : held_out_examples(setup.data, 200)) CHECK_FALSE(different.contains(example.source));
  // It learns these by heart, and nothing else.
  TrainingOptions options = few_steps(task, 150);
  options.batch = 8;
  options.rate = 0.01;
  options.examples = 2;
  const TrainingState state = trained(task, options);
  CHECK(state.curve.back().loss < 1.5);
  CHECK(state.curve.back().held_out.loss > 2.3);
}

TEST_CASE("a saved state is a model that other commands read") {
  const TrainingState transformer = trained(task_called("reverse"), few_steps(task_called("reverse"), 1));
  const TransformerFile file = read_transformer(bytes_of(transformer), "state");
  check_same_matrices(transformer.model, file.model);
  CHECK(file.source == task_called("reverse").example);
  const TrainingState recurrent = trained(task_called("dates"), few_steps(task_called("dates"), 1));
  const EncoderDecoderFile other = read_encoder_decoder(bytes_of(recurrent), "state");
  CHECK(other.cell == "gru");
  CHECK(other.variant == "bahdanau");
}

TEST_CASE("a file that is no state of training is refused") {
  std::string model;
  Sink sink([&](std::string_view piece) { model += piece; });
  const Task& task = task_called("reverse");
  const TrainingState state = trained(task, few_steps(task, 1));
  write_model(state, sink);
  sink.flush();
  TrainingState other_task = state;
  other_task.task = "sort";
  TrainingState no_average = state;
  no_average.moments.begin()->second.second(0, 0) = -1.0;
  TrainingState huge = state;
  huge.request.sizes.layers = 1'000'000;
  TrainingState other_width = state;
  other_width.options.d_model = 100'000;
  TrainingState other_heads = state;
  std::get<Transformer>(other_heads.model).sizes.heads *= 2;
  TrainingState beyond = state;
  beyond.step = beyond.options.steps + 1;
  TrainingState no_generator = state;
  no_generator.generator = "none";
  check_refused({
      {"not a .safetensors file", [] { read_state("{}", "x"); }},
      {"no state of training", [&] { read_state(model, "x"); }},
      {"other parameters than the task sort has", [&] { read_state(bytes_of(other_task), "x"); }},
      {"damaged", [&] { read_state(bytes_of(no_generator), "x"); }},
      {"a number that no average has", [&] { read_state(bytes_of(no_average), "x"); }},
      {"says that d_model is 100000, and that of the model is ", [&] { read_state(bytes_of(other_width), "x"); }},
      {"says that the number of heads is ", [&] { read_state(bytes_of(other_heads), "x"); }},
      {"--layers 1000000 is more than 16", [&] { read_state(bytes_of(huge), "x"); }},
      {"damaged", [&] { read_state(bytes_of(beyond), "x"); }},
      {"unknown member", [&] { read_transformer("{\"a\": 1}", "x"); }},
  });
}

TEST_CASE("of the model in a state only the numbers count") {
  const Task& task = task_called("reverse");
  TrainingState state = trained(task, few_steps(task, 1));
  const TrainedModel right = state.model;
  Transformer& model = std::get<Transformer>(state.model);
  model.source_vocabulary.clear();
  model.recipe.causal_encoder = true;
  const TrainingState read = read_state(bytes_of(state), "x");
  const Transformer &one = std::get<Transformer>(read.model), &other = std::get<Transformer>(right);
  CHECK(one.source_vocabulary == other.source_vocabulary);
  CHECK_FALSE(one.recipe.causal_encoder);
  check_same_matrices(read.model, right);
}

TEST_CASE("a step that is much too large stops with the matrix and a reason") {
  const Task& task = task_called("induction");
  TrainingOptions options = few_steps(task, 100);
  options.rate = 1e200;
  options.clip = 0.0;
  options.warm_up = 0;
  Trainer trainer(task, {}, options);
  const std::string sentence = refusal([&] {
    while (!trainer.is_done()) trainer.step();
  });
  CAPTURE(sentence);
  CHECK(sentence.find("training stopped at step 2: decoder.1.self_attention") != std::string::npos);
  CHECK(sentence.find("no clipping") != std::string::npos);
  CHECK(sentence.find("--clip 1") != std::string::npos);
}

TEST_CASE("a batch gives each sentence the logits that it has alone whatever the padding") {
  Generator generator(3);
  for (const std::string_view name : {"reverse", "names", "dates", "pairs"}) {
    const Task& task = task_called(name);
    CAPTURE(name);
    TaskSetup setup = set_up(task, request_of(task));
    draw_parameters(setup.model, 1);
    std::vector<TaskExample> examples;
    for (int i = 0; i < 3; ++i) examples.push_back(training_example(setup.data, generator));
    BatchShape shape = setup.data.longest;
    shape.sentences = examples.size();
    shape.has_padding = true;
    LossGraph together(setup.model, shape, 0.0);
    together.put(batch_of(examples, shape));
    for (std::size_t s = 0; s < examples.size(); ++s) {
      LossGraph alone(setup.model, BatchShape::of(std::span(&examples[s], 1), 1), 0.0);
      alone.put(batch_of(std::span(&examples[s], 1), alone.shape()));
      for (std::size_t i = 0; i < examples[s].expected.size(); ++i) {
        for (std::size_t j = 0; j < alone.logits().shape().columns; ++j) {
          CHECK(together.logits().matrix()(s * shape.expected + i, j) ==
                doctest::Approx(alone.logits().matrix()(i, j)).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("a sentence is written right exactly where all its words are predicted right") {
  for (const std::string_view name : {"dates", "pairs", "names"}) {
    const Task& task = task_called(name);
    CAPTURE(name);
    const TrainingState state = trained(task, few_steps(task, 30));
    TaskSetup setup = set_up(task, request_of(task));
    for (const TaskExample& example : held_out_examples(setup.data, 4)) {
      const bool is_predicted = predictions(state.model, example) == example.expected;
      CHECK((generated_ids(state.model, example) == example.expected) == is_predicted);
    }
  }
}

TEST_CASE("Adam makes the steps of its algorithm") {
  TrainingOptions options;
  options.rate = 0.1;
  options.warm_up = 0;
  options.beta_1 = 0.5;
  options.beta_2 = 0.75;
  Matrix parameter = matrix({{1, 2}});
  Moments moments{Matrix({1, 2}, 0.0), Matrix({1, 2}, 0.0)};
  const Matrix gradient = matrix({{4, -2}});
  AdamStep(options, 1, 1.0).apply(parameter, gradient, moments);
  // The first step has the size of the rate, whatever the gradient.
  CHECK(parameter(0, 0) == doctest::Approx(0.9));
  CHECK(parameter(0, 1) == doctest::Approx(2.1));
  CHECK(moments.first(0, 0) == 2.0);
  CHECK(moments.second(0, 0) == 4.0);
  AdamStep(options, 2, 0.5).apply(parameter, gradient, moments);
  const double first = (0.5 * 2.0 + 0.5 * 2.0) / 0.75, second = (0.75 * 4.0 + 0.25 * 4.0) / (1 - 0.75 * 0.75);
  CHECK(parameter(0, 0) == doctest::Approx(0.9 - 0.1 * first / std::sqrt(second)));
}

TEST_CASE("gradients are clipped together and keep their direction") {
  const Matrix a = matrix({{3}}), b = matrix({{4}});
  const std::vector<const Matrix*> both = {&a, &b};
  CHECK(norm_of(both) == doctest::Approx(5.0));
  CHECK(clipping(5.0, 1.0) == doctest::Approx(0.2));
  CHECK(clipping(5.0, 0.0) == 1.0);
  CHECK(clipping(0.5, 1.0) == 1.0);
}

TEST_CASE("learning rates follow their schedules") {
  TrainingOptions options;
  options.steps = 100;
  options.warm_up = 10;
  options.rate = 2.0;
  const auto rate = [&](std::string_view name, std::size_t step) {
    return look_up(rate_schedules(), name, "schedule").rate(options, step);
  };
  CHECK(rate("constant", 5) == doctest::Approx(1.0));
  CHECK(rate("constant", 50) == 2.0);
  CHECK(rate("linear", 51) == doctest::Approx(1.0));
  CHECK(rate("linear", 101) == 0.0);
  options.d_model = 16;
  CHECK(rate("paper", 10) == doctest::Approx(2.0 / 4.0 / std::sqrt(10.0)));
  CHECK(rate("paper", 5) == doctest::Approx(rate("paper", 10) / 2.0));
  CHECK(rate("paper", 40) == doctest::Approx(rate("paper", 10) / 2.0));
}

TEST_CASE("options of training are refused where they make no sense") {
  TrainingOptions options;
  const auto take = [&](std::string_view name, const std::string& text) {
    look_up(training_fields(), name, "option").take(options, text, "--" + std::string(name));
  };
  check_refused({
      {"--steps must be a whole number from 1", [&] { take("steps", "0"); }},
      {"--batch must be a whole number from 1", [&] { take("batch", "-3"); }},
      {"--rate must be a positive number", [&] { take("rate", "0"); }},
      {"--rate must be a positive number", [&] { take("rate", "inf"); }},
      {"--smoothing must be a number from 0 to below 1", [&] { take("smoothing", "1"); }},
      {"unknown schedule", [&] { take("schedule", "cosine"); }},
      {"--seed must be a whole number", [&] { take("seed", "x"); }},
  });
  for (const TrainingField& field : training_fields()) {
    CAPTURE(field.name);
    TrainingOptions other;
    field.take(other, field.told(options), "it");
    CHECK(field.told(other) == field.told(options));
  }
}

TEST_CASE("a file of more pairs or words than are trained on is refused with the line at which it is too much") {
  std::string repeated;
  for (std::size_t i = 0; i <= most_pairs; ++i) repeated += "a\tb\n";
  CHECK(refusal([&] { read_pairs(repeated, "p"); }) ==
        "p, line 262145: the file has more than 262144 pairs: give one with fewer");
  std::string first, second;
  for (std::size_t i = 0; i <= most_trained_words; ++i) {
    first += std::to_string(i) + "\tb\n";
    second += "a\t" + std::to_string(i) + "\n";
  }
  CHECK(refusal([&] { read_pairs(first, "p"); }) ==
        "p, line 32769: the first sentences have more than 32768 different words: give a file with fewer");
  CHECK(refusal([&] { read_pairs(second, "p"); }).find("the second sentences have") != std::string::npos);
}

TEST_CASE("pairs are read from lines with one tab") {
  const std::vector<TextPair> pairs = read_pairs("# own\nla maison\tthe house\r\n\nun chat\ta cat", "p");
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].source == "la maison");
  CHECK(pairs[0].target == "the house");
  CHECK(pairs[1].target == "a cat");
  check_refused({
      {"p has no pairs", [] { read_pairs("", "p"); }},
      {"p has 1 pair", [] { read_pairs("a\tb\n", "p"); }},
      {"p, line 2: a line must be two sentences", [] { read_pairs("a\tb\nc d\n", "p"); }},
      {"p, line 1: a line must be two sentences", [] { read_pairs("a\tb\tc\n", "p"); }},
      {"p, line 1: a sentence is empty", [] { read_pairs("a\t \n", "p"); }},
      {"needs sentences", [] { set_up(task_called("pairs"), {}); }},
  });
}

TEST_CASE("sizes that do not fit are refused before anything is drawn") {
  TaskRequest request;
  request.sizes.heads = 5;
  TaskRequest variant;
  variant.variant = "none";
  const TaskSetup bottleneck = set_up(task_called("dates"), variant);
  CHECK(std::get<EncoderDecoder>(bottleneck.model).variant->name == "none");
  TaskRequest flat;
  flat.sizes.layers = 0;
  check_refused({{"--layers is 0", [&] { set_up(task_called("sort"), flat); }},
                 {"a recurrent network without layers", [&] { set_up(task_called("dates"), request); }}});
  check_refused({{"no recurrent network", [&] { set_up(task_called("sort"), variant); }}});
  check_refused({{"--heads: d_model (32) is not divisible", [&] { set_up(task_called("reverse"), request); }}});
}
