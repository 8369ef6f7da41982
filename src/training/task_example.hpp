#pragma once

#include <functional>
#include <span>
#include <vector>

#include "math/random.hpp"
#include "model/encoder_decoder.hpp"

namespace attn {

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

/// Where a task's sentences come from. No sentence is both trained on and held out: `is_held_out` decides by
/// the sentence alone, whatever the seed.
struct ExampleSource {
  BatchShape longest = {};                                   // room for any of its sentences
  std::function<TaskExample(Generator&)> draw = {};          // any sentence
  std::function<bool(const TaskExample&)> is_held_out = {};  // null: those whose hash is a multiple of 10
  std::vector<TaskExample> all = {};  // of finite data, all sentences there are; may be empty
};

/// The next sentence of training: the first that is drawn and not held out.
TaskExample training_example(const ExampleSource& source, Generator& generator);

/// Different sentences that are held out, at most `most`, the same ones for every seed of training; of finite
/// data in their order.
std::vector<TaskExample> held_out_examples(const ExampleSource& source, std::size_t most);

/// Whether every tenth sentence that this is one of is held out: by a hash of what goes in.
bool is_one_in_ten(const TaskExample& example);

}  // namespace attn
