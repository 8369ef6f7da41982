#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/model.hpp"
#include "training/options.hpp"
#include "training/task_example.hpp"

namespace attn {

/// A sentence and what a model should make of it, as text, from a file of the reader's own.
struct TextPair {
  std::string source, target;
};

/// The pairs of a text file: a line each, the two sentences separated by a tab; lines that begin with # and
/// empty lines are ignored. Throws InputError: no pair, a line without a tab or with several, a sentence
/// without words.
std::vector<TextPair> read_pairs(std::string_view text, const std::string& where);

/// No model that is trained has more layers, or more numbers of any other size.
constexpr std::size_t most_trained_layers = 16, most_trained_size = 1024;

/// Sizes that are asked for in place of a task's own.
struct SizeChanges {
  std::optional<std::size_t> layers = {}, heads = {}, d_model = {}, d_ff = {};
};

/// What a task is made with, beside its row.
struct TaskRequest {
  SizeChanges sizes = {};
  std::vector<TextPair> pairs = {};  // of the task "pairs" only
  std::string variant = {};          // of alignment, of recurrent models only; empty: the task's own
};

/// A task with its data and a model that has no parameters yet.
struct TaskSetup {
  TrainedModel model = {};
  ExampleSource data = {};
  TrainingOptions defaults = {};
  std::size_t choices = 0;     // words that can come out: all but <start>
  std::size_t held_out = 200;  // at most so many sentences are held out
};

/// Something that a model can learn in a minute, and what it needs attention for.
struct Task {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> about;  // paragraphs: what it needs attention for
  std::string_view measure;                 // what is counted, in a sentence
  double goal;  // share of words right (of what counts) that the defaults reach; 0: none is stated
  std::string_view example;  // a sentence of its vocabulary to look at, words separated by spaces
  bool needs_pairs = false;
  bool has_right_sentences = true;  // false: after many beginnings nobody can know the next word
  TaskSetup (*set_up)(const TaskRequest& request) = nullptr;
};

/// reverse, sort, induction, induction-fixed, names, dates, coreference, pairs. A new one is a file in
/// tasks/, declared in tasks.hpp, and a row.
std::span<const Task> tasks();

/// The task made as it is asked for. Throws InputError: sizes that do not fit, pairs that are missing, a
/// variant of a model that has none.
TaskSetup set_up(const Task& task, const TaskRequest& request);

/// ln of the number of words to choose from.
double loss_of_guessing(const TaskSetup& setup);

}  // namespace attn
