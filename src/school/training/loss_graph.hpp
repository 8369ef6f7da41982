#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/graph/plan.hpp"
#include "core/model/input.hpp"
#include "school/training/example.hpp"

namespace attn {

/// Sentences below each other. Padding stands for no word: its id is 1, no query attends to it, and it does
/// not count.
struct Batch {
  ModelInput source, given;
  Ids expected;                // of sentence after sentence
  std::vector<double> counts;  // how much each word counts in the loss: 1 by the number of those that do, or 0
};

/// The batch of these sentences, at most as many as the shape has; in place of those that are missing the
/// last one, which does not count there.
Batch batch_of(std::span<const TaskExample> examples, const BatchShape& shape);

class LossGraph;

/// How well a model does what it was trained for, on sentences that it was not trained on. A decoder is given
/// the right words before each (teacher forcing); where it chooses the most probable word, a whole sentence
/// is right exactly where it also writes that sentence by itself.
struct Evaluation {
  double loss = 0.0;  // cross-entropy of a word that counts, without smoothing
  std::size_t words = 0, right_words = 0;
  std::size_t sentences = 0, right_sentences = 0;

  double accuracy() const { return words ? static_cast<double>(right_words) / static_cast<double>(words) : 0.0; }
  double sentence_accuracy() const {
    return sentences ? static_cast<double>(right_sentences) / static_cast<double>(sentences) : 0.0;
  }
  bool operator==(const Evaluation&) const = default;
};

/// Compares a model with the right words of some sentences, as often as it is asked: with the numbers that
/// the model's parameters have then.
class Evaluator {
 public:
  /// The model outlives it.
  Evaluator(const TrainedModel& model, std::vector<TaskExample> examples);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Evaluation evaluate();
  /// For each word that should come out of sentence i the most probable one.
  Ids predictions(std::size_t i);
  const std::vector<TaskExample>& examples() const { return examples_; }

 private:
  void compute(std::size_t first);

  std::vector<TaskExample> examples_;
  std::unique_ptr<LossGraph> graph_;  // null: there are no examples
  Plan plan_;
};

Evaluation evaluate(const TrainedModel& model, const std::vector<TaskExample>& examples);

/// What a model makes of one sentence: for each word that should come out the most probable one, given the
/// right words before it.
Ids predictions(const TrainedModel& model, const TaskExample& example);

/// The words that a model with a decoder writes by itself, each from its own words before it, until <end> or
/// as many as are expected; of an encoder alone its predictions.
Ids generated_ids(const TrainedModel& model, const TaskExample& example);

/// What a decoder alone writes behind a prompt, sampled at a temperature: the same words for the same model.
Ids sampled_continuation(const Transformer& model, const Ids& prompt, std::size_t words, double temperature);

/// A model on a batch in a graph that is built once: what goes in is exchanged, and so may be the cells of
/// the parameters.
class LossGraph {
 public:
  /// The model outlives it. Throws InputError for a model without an output layer, for dropout in a recurrent
  /// model, and as building does.
  LossGraph(const TrainedModel& model, const BatchShape& shape, double smoothing, double dropout = 0.0);
  ~LossGraph();
  LossGraph(const LossGraph&) = delete;
  LossGraph& operator=(const LossGraph&) = delete;

  const BatchShape& shape() const { return shape_; }
  Graph& graph() const { return *graph_; }
  void put(const Batch& batch);
  /// Lets dropout, where there is some, leave out other numbers.
  void draw_dropout(Generator& generator);

  const Value& logits() const { return *logits_; }  // [sentences · expected, words]
  const Value& losses() const { return *losses_; }  // of each word  [sentences · expected, 1]
  const Value& loss() const { return *loss_; }      // of the batch  [1, 1]

  class Forward;

 private:
  BatchShape shape_;
  std::shared_ptr<Graph> graph_;
  std::unique_ptr<Dropout> dropout_;  // null: none
  std::unique_ptr<Forward> forward_;
  LiveWords expected_;
  std::shared_ptr<Matrix> counts_;
  std::optional<Value> logits_, losses_, loss_;
};

}  // namespace attn
