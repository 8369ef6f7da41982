#include "school/training/loss.hpp"

#include <algorithm>

#include "core/graph/run.hpp"
#include "core/model/generation.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"

namespace attn {

// --- batch

namespace {

void append_sentence(ModelInput& input, const Ids& words, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    input.ids.push_back(i < words.size() ? words[i] : 1);
    input.blank.push_back(i >= words.size());
  }
}

}  // namespace

Batch batch_of(std::span<const TaskExample> examples, const BatchShape& shape) {
  Batch batch;
  std::size_t count = 0;
  for (std::size_t s = 0; s < shape.sentences; ++s) {
    const TaskExample& example = examples[std::min(s, examples.size() - 1)];
    append_sentence(batch.source, example.source, shape.source);
    append_sentence(batch.given, example.given, shape.given);
    for (std::size_t i = 0; i < shape.expected; ++i) {
      const bool is_word = i < example.expected.size();
      const bool counts = is_word && s < examples.size() && example.counts_at(i);
      batch.expected.push_back(is_word ? example.expected[i] : 1);
      batch.counts.push_back(counts ? 1.0 : 0.0);
      count += counts;
    }
  }
  for (double& one : batch.counts) one = count == 0 ? 0.0 : one / static_cast<double>(count);
  batch.source.sentences = batch.given.sentences = shape.sentences;
  // Without padding there is no mask for it.
  if (!shape.has_padding) {
    batch.source.blank.clear();
    batch.given.blank.clear();
  }
  return batch;
}

// --- evaluation

namespace {

constexpr std::size_t most_at_once = 50;  // sentences

std::size_t id_of_largest(std::span<const double> cells) {
  return static_cast<std::size_t>(std::ranges::max_element(cells) - cells.begin()) + 1;
}

}  // namespace

Evaluator::Evaluator(const TrainedModel& model, std::vector<TaskExample> examples) : examples_(std::move(examples)) {
  if (examples_.empty()) return;
  const BatchShape shape = BatchShape::of(examples_, std::min(most_at_once, examples_.size()));
  graph_ = std::make_unique<LossGraph>(model, shape, 0.0);
  plan_ = graph_->graph().run().plan_to_repeat({&graph_->logits().node(), &graph_->losses().node()});
}

Evaluator::~Evaluator() = default;

void Evaluator::compute(std::size_t first) {
  const std::size_t count = std::min(graph_->shape().sentences, examples_.size() - first);
  graph_->put(batch_of(std::span(examples_).subspan(first, count), graph_->shape()));
  graph_->graph().run().repeat(plan_);
}

Evaluation Evaluator::evaluate() {
  Evaluation result;
  if (!graph_) return result;
  const BatchShape& shape = graph_->shape();
  double sum = 0.0;
  for (std::size_t first = 0; first < examples_.size(); first += shape.sentences) {
    compute(first);
    const Matrix &logits = graph_->logits().matrix(), &losses = graph_->losses().matrix();
    for (std::size_t s = 0; s < shape.sentences && first + s < examples_.size(); ++s) {
      const TaskExample& example = examples_[first + s];
      bool is_right = true;
      for (std::size_t i = 0; i < example.expected.size(); ++i) {
        if (!example.counts_at(i)) continue;
        const std::size_t place = s * shape.expected + i;
        const bool is_word_right = id_of_largest(row(logits, place)) == example.expected[i];
        ++result.words;
        result.right_words += is_word_right;
        is_right = is_right && is_word_right;
        sum += losses(place, 0);
      }
      ++result.sentences;
      result.right_sentences += is_right;
    }
  }
  if (result.words > 0) result.loss = sum / static_cast<double>(result.words);
  return result;
}

Ids Evaluator::predictions(std::size_t i) {
  compute(i);
  Ids words;
  for (std::size_t t = 0; t < examples_[i].expected.size(); ++t)
    words.push_back(id_of_largest(row(graph_->logits().matrix(), t)));
  return words;
}

Evaluation evaluate(const TrainedModel& model, const std::vector<TaskExample>& examples) {
  return Evaluator(model, examples).evaluate();
}

Ids predictions(const TrainedModel& model, const TaskExample& example) {
  return Evaluator(model, {example}).predictions(0);
}

Ids written(const TrainedModel& model, const TaskExample& example) {
  if (const auto* const recurrent = std::get_if<EncoderDecoder>(&model))
    return translate(*recurrent, example.source, example.expected.size());
  const auto& transformer = std::get<Transformer>(model);
  if (!transformer.kind->decodes) return predictions(model, example);
  Graph graph(keep_nothing());
  RunningTransformer running(transformer, graph);
  std::optional<Value> encoded;
  if (transformer.kind->encodes) encoded = running.encode({.ids = example.source});
  const GenerationTask task{.prompt = {.ids = {example.given.front()}},
                            .steps = example.expected.size(),
                            .ends = {id_in(transformer.target_vocabulary, end_word)}};
  Ids words;
  for (const GenerationStep& step : generate(running, graph, task, encoded, {})) words.push_back(step.chosen);
  return words;
}

Ids continued(const Transformer& model, const Ids& prompt, std::size_t words, double temperature) {
  Graph graph(keep_nothing());
  RunningTransformer running(model, graph);
  Ids written;
  for (const GenerationStep& step : generate(running, graph, {.prompt = {.ids = prompt}, .steps = words}, {},
                                             {.temperature = temperature, .generator = Generator(1)}))
    written.push_back(step.chosen);
  return written;
}

// --- loss graph

/// A model of either kind at work: how its logits follow from a batch.
class LossGraph::Forward {
 public:
  virtual ~Forward() = default;
  virtual Value logits() const = 0;
  virtual void put(const Batch& batch) = 0;
};

namespace {

// A batch of this shape, with padding where there may be some.
Batch any_batch(const BatchShape& shape) {
  const TaskExample longest{
      .source = Ids(shape.source, 1), .given = Ids(shape.given, 1), .expected = Ids(shape.expected, 1)};
  Batch batch = batch_of(std::span(&longest, 1), shape);
  const auto pad = [&](ModelInput& words) {
    if (!words.blank.empty()) words.blank.back() = true;
  };
  pad(batch.source);
  pad(batch.given);
  return batch;
}

class TransformerForward final : public LossGraph::Forward {
 public:
  TransformerForward(const Transformer& model, const Batch& batch, Graph& graph, Dropout* dropout)
      : running_(model, graph, dropout) {
    if (!running_.has_output())
      fail("the model has no output layer ({}), so nothing can be compared with the right words",
           Name({scope::output}, role::w).text());
    std::optional<Value> last;
    if (model.kind->encodes) last = running_.encode(batch.source);
    if (model.kind->decodes) last = running_.decode(batch.given, last);
    logits_ = running_.logits(*last);
  }

  Value logits() const override { return *logits_; }
  void put(const Batch& batch) override {
    if (!batch.source.ids.empty()) running_.exchange_source(batch.source);
    if (!batch.given.ids.empty()) running_.exchange_target(batch.given);
  }

 private:
  RunningTransformer running_;
  std::optional<Value> logits_;
};

class RecurrentForward final : public LossGraph::Forward {
 public:
  RecurrentForward(const EncoderDecoder& model, const Batch& batch, Graph& graph)
      : running_(model, batch.source, graph) {
    std::vector<Value> all;
    for (std::size_t t = 0; t < batch.given.words_of_sentence(); ++t)
      all.push_back(running_.step(given_at(batch, t), axis("outputs")));
    logits_ = name(role::logits, stack(all));
  }

  Value logits() const override { return *logits_; }
  void put(const Batch& batch) override {
    running_.exchange_source(batch.source);
    for (std::size_t t = 0; t < batch.given.words_of_sentence(); ++t)
      running_.exchange_previous(t + 1, given_at(batch, t));
  }

 private:
  static Ids given_at(const Batch& batch, std::size_t t) {
    Ids words;
    for (std::size_t s = 0; s < batch.given.sentences; ++s)
      words.push_back(batch.given.ids[s * batch.given.words_of_sentence() + t]);
    return words;
  }

  RunningEncoderDecoder running_;
  std::optional<Value> logits_;
};

std::unique_ptr<LossGraph::Forward> forward_of(const TrainedModel& model, const Batch& batch, Graph& graph,
                                               Dropout* dropout) {
  if (const auto* const transformer = std::get_if<Transformer>(&model))
    return std::make_unique<TransformerForward>(*transformer, batch, graph, dropout);
  if (dropout) fail("dropout is for Transformers, and this model is recurrent: leave it out");
  return std::make_unique<RecurrentForward>(std::get<EncoderDecoder>(model), batch, graph);
}

}  // namespace

LossGraph::LossGraph(const TrainedModel& model, const BatchShape& shape, double smoothing, double dropout)
    : shape_(shape),
      graph_(std::make_shared<Graph>(keep_nothing())),
      dropout_(dropout > 0.0 ? std::make_unique<Dropout>(dropout) : nullptr),
      counts_(std::make_shared<Matrix>(Shape{1, shape.sentences * shape.expected}, 0.0)) {
  const Batch batch = any_batch(shape);
  forward_ = forward_of(model, batch, *graph_, dropout_.get());
  logits_ = forward_->logits();
  expected_ = LiveWords({.ids = batch.expected, .sentences = shape.sentences});
  Axis words = logits_->node().frame.rows;
  const Value expected = graph_->input(role::expected, expected_.ids(), words, axis("id"));
  losses_ = name(role::losses, cross_entropy(*logits_, expected, smoothing));
  const Value counted = graph_->input(role::counted, counts_, axis("loss"), axis("words"));
  loss_ = name(role::loss, matmul(counted, *losses_));
}

LossGraph::~LossGraph() = default;

void LossGraph::draw_dropout(Generator& generator) {
  if (dropout_) dropout_->draw(generator);
}

void LossGraph::put(const Batch& batch) {
  forward_->put(batch);
  expected_.exchange({.ids = batch.expected});
  std::ranges::copy(batch.counts, cells(*counts_).begin());
}

}  // namespace attn
