#pragma once

#include <memory>

#include "training/batch.hpp"
#include "training/model.hpp"

namespace attn {

/// A model on a batch in a graph that is built once: what goes in is exchanged, and so may be the cells of
/// the parameters.
class LossGraph {
 public:
  /// The model outlives it. Throws InputError for a model without an output layer, and as building does.
  LossGraph(const TrainedModel& model, const BatchShape& shape, double smoothing);
  ~LossGraph();
  LossGraph(const LossGraph&) = delete;
  LossGraph& operator=(const LossGraph&) = delete;

  const BatchShape& shape() const { return shape_; }
  Graph& graph() const { return *graph_; }
  void put(const Batch& batch);

  const Value& logits() const { return *logits_; }  // [sentences · expected, words]
  const Value& losses() const { return *losses_; }  // of each word  [sentences · expected, 1]
  const Value& loss() const { return *loss_; }      // of the batch  [1, 1]

  class Forward;

 private:
  BatchShape shape_;
  std::shared_ptr<Graph> graph_;
  std::unique_ptr<Forward> forward_;
  LiveWords expected_;
  std::shared_ptr<Matrix> counts_;
  std::optional<Value> logits_, losses_, loss_;
};

}  // namespace attn
