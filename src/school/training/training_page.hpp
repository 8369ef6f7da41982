#pragma once

#include <string>
#include <vector>

#include "page/block/page.hpp"
#include "school/training/example.hpp"
#include "school/training/trainer.hpp"
#include "school/training/training_comparison.hpp"

namespace attn {

/// A model as it was at one step of its training.
struct ModelAtStep {
  std::size_t step = 0;
  TrainedModel model;
  double loss = 0.0, accuracy = 0.0;  // on what was held out
};

/// What a page on training tells beside the training itself.
struct TrainingReport {
  TaskExample sentence;               // that is looked at
  std::vector<ModelAtStep> compared;  // models whose weights on it are compared; empty: none
  std::vector<Text> next;             // what to try next
  bool was_stopped = false;
  const TrainingComparison* beside = nullptr;  // another model that was trained on the same; null: none
};

/// "A Transformer (encoder-decoder): 1 layer, 2 heads, …": a model in a sentence.
std::string kind_in_words(const TrainedModel& model);

/// Adds a table whose numbers are a matrix of the page, by this name.
void add_numbers(Page& page, const std::string& name, std::shared_ptr<const Matrix> cells, const Axis& rows,
                 const Axis& columns);

/// Whether the words that are right are at least the share that the task states as its goal; false where it
/// states none, or nothing was measured.
bool reaches_goal(const Task& task, const Evaluation& evaluation);

/// "held-out loss 0.0312 (guessing: 2.3026), 99.1 % of words right": how well a model does.
std::string standing_of(const Trainer& trainer, const Evaluation& evaluation);

/// What a model of a text continued it with at a point of the curve: "After 200 steps it writes: …".
Text sample_of(const Trainer& trainer, const CurvePoint& point);

/// Adds what a task needs attention for, the model, the curve, the measure, what the heads do, and examples.
void add_training(Page& page, const Trainer& trainer, const TrainingReport& told);

/// The loss so far, beside that of guessing, as curves.
Plot loss_curve(const Trainer& trainer);

}  // namespace attn
