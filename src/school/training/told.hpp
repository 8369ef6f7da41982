#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"
#include "page/tell/heads.hpp"
#include "school/training/example.hpp"
#include "school/training/trainer.hpp"

namespace attn {

/// A trained model at work on one sentence: its graph with all numbers, and its words as a reader sees them.
struct TrainedRun {
  std::shared_ptr<Graph> graph;
  std::vector<std::string> goes_in = {};    // into the encoder, or into a decoder alone
  std::vector<std::string> expected = {};   // empty: nobody knows; "·" for words that do not count
  std::vector<std::string> comes_out = {};  // the most probable words, given the right ones before them

  bool is_right() const;
};

/// Runs a model on a sentence.
TrainedRun run_on(const TrainedModel& model, const TaskExample& sentence);

/// A text as a sentence of the model, whose expected words nobody knows: a decoder that follows an encoder is
/// given what the model itself writes. Throws InputError: no word, or one that the model does not know.
TaskExample sentence_of(const TrainedModel& model, const ModelWords& own, const std::string& text);

/// What should come out at each query of some weights, where that is known and counts; otherwise empty words.
std::vector<std::string> expected_at(const Node& weights, const TrainedModel& model, const TaskExample& sentence);

/// What the heads of a trained model do, measured on some sentences.
struct LearnedHeads {
  std::vector<std::string> names;   // of the weights
  std::vector<std::string> titles;  // "encoder.1.self_attention, head 2"
  std::vector<HeadMeasure> heads;
  std::size_t sentences = 0;
  bool leaves_out = false;  // queries whose words do not count
};
LearnedHeads heads_of(const TrainedModel& model, const std::vector<TaskExample>& sentences);

/// "head 2 of encoder.1.self_attention", or of an attention with one head its place.
std::string head_in_place(const Node& weights);

/// Adds what rules find in them, the rules, and a matrix of the numbers.
void add_heads(Page& page, const LearnedHeads& learned);

/// Adds pictures of the weights of all heads, where they are not too many.
void add_pictures(Page& page, const Graph& graph);

/// A model as it was at one step of its training.
struct ModelAtStep {
  std::size_t step = 0;
  TrainedModel model;
  double loss = 0.0, accuracy = 0.0;  // on what was held out
};

/// What a page on training tells beside the training itself.
struct TrainingTold {
  TaskExample sentence;               // that is looked at
  std::vector<ModelAtStep> compared;  // models whose weights on it are compared; empty: none
  std::vector<Text> next;             // what to try next
  bool was_stopped = false;
};

/// Whether the words that are right are at least the share that the task states as its goal; false where it
/// states none, or nothing was measured.
bool reaches_goal(const Task& task, const Evaluation& evaluation);

/// "held-out loss 0.0312 (guessing: 2.3026), 99.1 % of words right": how well a model does.
std::string standing_of(const Trainer& trainer, const Evaluation& evaluation);

/// What a model of a text continued it with at a point of the curve: "After 200 steps it writes: …".
Text sample_of(const Trainer& trainer, const CurvePoint& point);

/// Adds what a task needs attention for, the model, the curve, the measure, what the heads do, and examples.
void add_training(Page& page, const Trainer& trainer, const TrainingTold& told);

/// The loss so far, beside that of guessing, as curves.
Plot loss_curve(const Trainer& trainer);

}  // namespace attn
