#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/named_recipe.hpp"
#include "school/training/architecture.hpp"
#include "school/training/example.hpp"
#include "school/training/text_windows.hpp"

namespace attn {

struct TrainingOptions;

/// How the learning rate changes from step to step, counted from 1.
struct RateSchedule {
  std::string_view name;
  std::string_view summary;
  double (*rate)(const TrainingOptions& options, std::size_t step);
};

/// constant: a linear warm-up to `rate`, which then stays. linear: the same, and then linearly to 0 after
/// the last step. paper: rate · d_model^−0.5 · min(step^−0.5, step · warm_up^−1.5) (Vaswani et al. 2017,
/// equation 3).
std::span<const RateSchedule> rate_schedules();

/// No training makes more steps, or has more sentences in one.
constexpr std::size_t most_steps = 10'000'000, most_sentences = 4096;

/// No training is held to more different sentences than this, which are drawn before it begins.
constexpr std::size_t most_examples = 10'000;

/// How a model is trained: all that changes the parameters beside the task, its model and its data.
struct TrainingOptions {
  std::size_t steps = 1000;
  std::size_t batch = 32;  // sentences of a step
  std::uint32_t seed = 1;  // of the first parameters and of the sentences
  const RateSchedule* schedule = &rate_schedules().front();
  double rate = 1e-3;        // learning rate; of the schedule "paper" a factor
  std::size_t warm_up = 50;  // steps; 0: none
  std::size_t d_model = 1;   // of the model; the schedule "paper" depends on it
  double beta_1 = 0.9;       // of Adam (Kingma and Ba 2015, algorithm 1)
  double beta_2 = 0.98;
  double epsilon = 1e-9;
  double clip = 1.0;                 // largest norm of all gradients together; 0: any (Pascanu et al. 2013)
  double smoothing = 0.0;            // of labels (Vaswani et al. 2017, section 5.4)
  double dropout = 0.0;              // share of numbers that is left out at random; of Transformers
  std::size_t examples = 0;          // different sentences that it is trained on; 0: all that the task has
  std::size_t evaluate_every = 100;  // steps between two points of the curve
};

/// A member of these options by name, as `attn train` takes it, a state keeps it and a page tells it.
struct TrainingField {
  std::string_view name;  // "warm_up"
  std::string_view summary;
  /// Throws InputError, which calls the field as it is `called`.
  void (*take)(TrainingOptions& options, const std::string& text, const std::string& called);
  std::string (*told)(const TrainingOptions& options);
};
std::span<const TrainingField> training_fields();

/// A sentence and what a model should make of it, as text, from a file of the reader's own.
struct TextPair {
  std::string source, target;
};

/// No file has more pairs, nor more different words on one side: every word is a row of an embedding, and of the output
/// layer for every word that is predicted.
constexpr std::size_t most_pairs = std::size_t{1} << 18, most_trained_words = std::size_t{1} << 15;

/// The pairs of a text file: a line each, the two sentences separated by a tab; lines that begin with # and
/// empty lines are ignored. Throws InputError: no pair, a line without a tab or with several, a sentence
/// without words, more pairs or words than are trained on.
std::vector<TextPair> read_pairs(std::string_view text, const std::string& where);

/// No model that is trained has more layers, or more numbers of any other size.
constexpr std::size_t most_trained_layers = 16, most_trained_size = 1024;

/// Sizes that are asked for in place of a task's own.
struct SizeChanges {
  std::optional<std::size_t> layers = {}, heads = {}, key_heads = {}, d_model = {}, d_ff = {};
};

/// How a model computes that is asked for.
struct AskedRecipe {
  std::string name;  // of a row of named_recipes(); empty: of none
  ModelRecipe recipe = {};
};

/// What a task is made with, beside its row.
struct TaskRequest {
  SizeChanges sizes = {};
  std::vector<TextPair> pairs = {};              // of the task "pairs" only
  std::string variant = {};                      // of alignment, of recurrent models only; empty: the task's own
  std::shared_ptr<const TextWindows> text = {};  // of the task "text" only; null: the prose of this course
  std::optional<AskedRecipe> recipe = {};        // of Transformers only; nothing: the task's own
  const Architecture* architecture = nullptr;    // in place of the task's own, and of like size; null: its own
};

/// A loss to compare that of a model with: what one has that knows less.
struct ReferenceLoss {
  std::string name;  // in tables and curves
  std::string what;  // in a sentence, behind its name
  double loss = 0.0;
};

/// A task with its data and a model that has no parameters yet.
struct TaskSetup {
  TrainedModel model = {};
  ExampleSource data = {};
  TrainingOptions defaults = {};
  std::size_t choices = 0;                        // words that can come out: all but <start>
  std::size_t held_out = 200;                     // at most so many sentences are held out
  std::vector<std::string> about = {};            // paragraphs on the data, behind those of the task
  std::vector<ReferenceLoss> references = {};     // besides guessing
  std::string example = {};                       // in place of the task's
  Ids prompt = {};                                // what a model continues as it learns; empty: nothing
  ModelWords words = {};                          // how a text becomes words of the model
  std::optional<double> characters_of_word = {};  // on the average, of what is held out; nothing: words are words
};

/// Something that a model can learn in a minute, and what it needs attention for.
struct Task {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> about;  // paragraphs: what it needs attention for
  std::string_view measure;                 // what is counted, in a sentence
  double goal;               // least share of right words (of those that count) to be reached; 0: none is stated
  std::string_view example;  // a sentence of its vocabulary to look at, words separated by spaces
  std::string_view one_sentence = "sentence", one_word = "word";  // what is trained on and predicted one at a time
  bool needs_pairs = false;
  bool is_recurrent = false;        // its model is an encoder and a decoder with recurrent cells
  bool learns_text = false;         // of the reader or of this course, in any recipe
  bool has_right_sentences = true;  // false: after many beginnings nobody can know the next word
  TaskSetup (*set_up)(const TaskRequest& request) = nullptr;
};

/// reverse, sort, induction, induction-fixed, names, dates, coreference, pairs, text. A new one is a part of a
/// file of tasks, its declaration below, and a row.
std::span<const Task> tasks();

/// The task made as it is asked for. Throws InputError: sizes that do not fit, pairs that are missing, a
/// variant of a model that has none, another architecture for a model that does not write one sentence from another.
TaskSetup set_up(const Task& task, const TaskRequest& request);

/// What the first words of a model's own are, as a sentence to look at.
std::string example_of(const Task& task, const TaskSetup& setup);

/// ln of the number of words to choose from.
double loss_of_guessing(const TaskSetup& setup);

// The tasks, in tasks_of_order.cpp and in a file for each of the others.
extern const Task reverse_task, sort_task, induction_task, fixed_induction_task, names_task, dates_task,
    coreference_task, pairs_task, text_task;

// What several tasks are made of.

/// A whole number from 0 to below `count`, each as probable.
std::size_t uniform_index(std::size_t count, Generator& generator);

/// A model of one side with an output layer, an encoder or a decoder, that knows these words.
Transformer one_sided(const ModelKind& kind, const Vocabulary& words, const TransformerSizes& sizes,
                      const ModelRecipe& recipe);

/// The kinds of models by name.
const ModelKind& encoder_only();
const ModelKind& decoder_only();
const ModelKind& both_sides();

/// A recipe with another placement and kind of norms, and another kind of positions.
ModelRecipe recipe_with(std::string_view norm, std::string_view norm_kind, std::string_view positions);

/// The schedule that falls to 0.
const RateSchedule& falling_rate();

/// The sizes, changed as they are asked for.
TransformerSizes with_size_changes(TransformerSizes sizes, const SizeChanges& changes);

}  // namespace attn
