#include "training/loss_graph.hpp"

#include "op/operations.hpp"
#include "support/error.hpp"

namespace attn {

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
  TransformerForward(const Transformer& model, const Batch& batch, Graph& graph) : running_(model, graph) {
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

std::unique_ptr<LossGraph::Forward> forward_of(const TrainedModel& model, const Batch& batch, Graph& graph) {
  if (const auto* const transformer = std::get_if<Transformer>(&model))
    return std::make_unique<TransformerForward>(*transformer, batch, graph);
  return std::make_unique<RecurrentForward>(std::get<EncoderDecoder>(model), batch, graph);
}

}  // namespace

LossGraph::LossGraph(const TrainedModel& model, const BatchShape& shape, double smoothing)
    : shape_(shape),
      graph_(std::make_shared<Graph>(keep_nothing())),
      counts_(std::make_shared<Matrix>(Shape{1, shape.sentences * shape.expected}, 0.0)) {
  const Batch batch = any_batch(shape);
  forward_ = forward_of(model, batch, *graph_);
  logits_ = forward_->logits();
  expected_ = LiveWords({.ids = batch.expected, .sentences = shape.sentences});
  Axis words = logits_->node().frame.rows;
  const Value expected = graph_->input(role::expected, expected_.ids(), words, axis("id"));
  losses_ = name(role::losses, cross_entropy(*logits_, expected, smoothing));
  const Value counted = graph_->input(role::counted, counts_, axis("loss"), axis("words"));
  loss_ = name(role::loss, matmul(counted, *losses_));
}

LossGraph::~LossGraph() = default;

void LossGraph::put(const Batch& batch) {
  forward_->put(batch);
  expected_.exchange({.ids = batch.expected});
  std::ranges::copy(batch.counts, cells(*counts_).begin());
}

}  // namespace attn
