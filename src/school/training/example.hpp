#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "core/math/random.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/model/transformer.hpp"
#include "core/support/text.hpp"

namespace attn {

/// A model that can be trained: both kinds have matrices by name.
using TrainedModel = std::variant<Transformer, EncoderDecoder>;

/// The names and shapes of all parameters of a model, in the order in which they are drawn.
struct ParameterShape {
  std::string name;
  Shape shape;
};
std::vector<ParameterShape> parameters_of(const TrainedModel& model);
std::size_t count_parameters(const TrainedModel& model);

/// The matrices that a model has learned, shared with it.
const ModelParameters& matrices_of(const TrainedModel& model);
ModelParameters& matrices_of(TrainedModel& model);

/// Draws every parameter. Throws InputError for more than may be drawn.
void draw_parameters(TrainedModel& model, std::uint32_t seed);

/// The words that go in and those that come out; of an encoder alone and of a decoder alone both are the
/// same side's.
const Vocabulary& words_in(const TrainedModel& model);
const Vocabulary& words_out(const TrainedModel& model);

/// The words that some ids stand for.
Words words_of(const Ids& ids, const Vocabulary& vocabulary);

/// A sentence that a model learns from, as ids from 1. The side that has the output layer, the decoder or an
/// encoder alone, predicts one word from each word that goes into it.
struct TaskExample {
  Ids source = {};                // what goes into the encoder; empty: there is none
  Ids given = {};                 // what goes into the decoder; empty: there is none
  Ids expected = {};              // what should come out, one word for each that goes in
  std::vector<bool> counts = {};  // which of these count in the loss and in the measure; empty: all

  bool counts_at(std::size_t i) const { return counts.empty() || counts[i]; }
};

/// How many words the sentences of a batch have, those that are shorter with padding behind them.
struct BatchShape {
  std::size_t sentences = 0;
  std::size_t source = 0;    // words that go into the encoder; 0: there is none
  std::size_t given = 0;     // and into the decoder
  std::size_t expected = 0;  // words that should come out
  bool has_padding = false;  // some sentences are shorter

  /// Large enough for all of these.
  static BatchShape of(std::span<const TaskExample> examples, std::size_t sentences);
};

/// Where a task's sentences come from. No sentence is both trained on and held out, whatever the seed: `is_held_out`
/// decides by the sentence alone, or of finite data `held_out` lists those that are.
struct ExampleSource {
  BatchShape longest = {};                           // room for any of its sentences
  std::function<TaskExample(Generator&)> draw = {};  // any sentence
  std::function<bool(const TaskExample&)> is_held_out =
      {};                                  // of what is drawn; null: none where they are listed, else one in ten
  std::vector<TaskExample> held_out = {};  // of finite data; empty: any number can be drawn
};

/// The next sentence of training: the first that is drawn and not held out.
TaskExample training_example(const ExampleSource& source, Generator& generator);

/// Different sentences of training, at most `most`: the same ones for the same generator.
std::vector<TaskExample> few_examples(const ExampleSource& source, std::size_t most, Generator generator);

/// Different sentences that are held out, at most `most`, the same ones for every seed of training; of finite
/// data in their order.
std::vector<TaskExample> held_out_examples(const ExampleSource& source, std::size_t most);

/// Whether every tenth sentence that this is one of is held out: by a hash of what goes in.
bool is_one_in_ten(const TaskExample& example);

}  // namespace attn
