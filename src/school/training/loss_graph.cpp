#include "school/training/loss_graph.hpp"

#include <algorithm>

#include "core/op/operations.hpp"
#include "core/support/error.hpp"

namespace attn {

/// A model of either kind at work: how its logits follow from a batch.
class LossGraph::Forward {
 public:
  virtual ~Forward() = default;
  virtual Value logits() const = 0;
  virtual void put(const Batch& batch) = 0;
};

namespace {

void append_sentence(ModelInput& input, const Ids& words, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    input.ids.push_back(i < words.size() ? words[i] : 1);
    input.blank.push_back(i >= words.size());
  }
}

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

// --- batch

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

// --- loss graph

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
