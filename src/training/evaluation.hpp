#pragma once

#include <memory>
#include <vector>

#include "graph/plan.hpp"
#include "training/model.hpp"
#include "training/task_example.hpp"

namespace attn {

class LossGraph;

/// How well a model does what it was trained for, on sentences that it was not trained on. A decoder is given
/// the right words before each (teacher forcing); where it chooses the most probable word, a whole sentence
/// is right exactly where it also writes that sentence by itself.
struct Evaluation {
  double loss = 0.0;  // cross-entropy of a word that counts, without smoothing
  std::size_t words = 0, right_words = 0;
  std::size_t sentences = 0, right_sentences = 0;

  double accuracy() const {
    return words ? static_cast<double>(right_words) / static_cast<double>(words) : 0.0;
  }
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
Ids written(const TrainedModel& model, const TaskExample& example);

}  // namespace attn
