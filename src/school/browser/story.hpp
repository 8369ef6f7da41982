#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/files/json_writer.hpp"

namespace attn {

/// Attention weights at some step of a training, by their name in the computation of the page.
struct WeightsAtStep {
  std::string name;
  Matrix weights;
};

/// A model as it was after some steps of its training.
struct StageOfTraining {
  std::size_t step = 0;
  std::vector<WeightsAtStep> maps;
};

/// How the model of a page was trained: points of its curve, each with the average loss since the one before, and what
/// was measured on what was held out, where there is some; and how its weights changed.
struct TrainingStory {
  std::vector<std::size_t> steps;
  std::vector<double> losses;
  std::vector<double> held_out;  // losses there; empty: nothing is held out
  std::vector<double> accuracy;  // the share of right words there
  double guessing = 0.0;         // the loss of whoever only guesses
  std::vector<StageOfTraining> stages;
};

/// A sentence that a command line gives: the ids of its words stand in one part of a model.
struct SentenceOfLine {
  const ScopeKind* side;
  std::vector<std::string> options;  // that give it, each in place of the others
  std::string first, last;           // what is put around its words; empty: nothing
};

/// What a page for browsers tells of a computation beside it.
struct Story {
  std::vector<SentenceOfLine> sentences = {};  // that can be told anew, word by word
  std::optional<std::size_t> given = {};  // of the ids that are read, those that were given: the model wrote the rest
  std::optional<TrainingStory> training = {};
};

/// What of a model of words belongs together: the words that are read, and what it expects.
struct PredictionOnPage {
  const Node* ids = nullptr;  // null: a step reads one word, which has no node of ids of its own
  const Node* logits = nullptr;
  const Node* distribution = nullptr;
  bool next = false;  // row i is about word i + 1 of the ids; otherwise about word i
};

/// All of them, known by their roles.
std::vector<PredictionOnPage> predictions_in(const Graph& graph);

/// What writes the predictions of a graph as a list, with each node as its index; empty: there are none.
std::function<void(JsonWriter& json)> written_predictions(const Graph& graph);
/// What writes the sentences, each with the index of its ids.
std::function<void(JsonWriter& json)> written_sentences(const Story& story, const Graph& graph);
/// What writes how a model was trained, its weights as nodes of the graph; empty: nobody trained it.
std::function<void(JsonWriter& json)> written_training(const Story& story, const Graph& graph);

}  // namespace attn
