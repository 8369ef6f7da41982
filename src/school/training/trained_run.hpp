#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/problem/model_words.hpp"
#include "school/training/example.hpp"

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

}  // namespace attn
