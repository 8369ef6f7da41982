#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "attention/attention.hpp"
#include "model/recurrent.hpp"

namespace attn {

/// One output of a recurrent decoder, as far as the variants differ in what they do with it. The names that
/// it gives stand in the open scope.
class DecoderStep {
 public:
  /// What all steps of a decoder share.
  struct Parts {
    const Recurrence& cell;
    Parameters parameters;  // the cell's
    Value h;                // the encoder's states, keys and values at once  [n, d]
    Recipe recipe;
  };

  /// `word` is the embedding of the last output, `previous` the state after it, and `output` the label of the
  /// row that is to be predicted.
  DecoderStep(const Parts& parts, const Value& word, const Value& previous, Axis output);

  const Value& word() const { return word_; }
  const Value& previous() const { return previous_; }
  /// The state that `advance` has made.
  const Value& state() const { return *state_; }
  /// The word as the whole input of the cell.
  Value word_alone() const;

  /// The encoder's states, weighed by a query: `query`, `scores` … `weights`, `context`.  [1, d] -> [1, d].
  Value attend(const Value& state);
  /// The next state from the cell's input: `x`, `state`.  [1, d_x] -> [1, d].
  Value advance(const Value& x);

 private:
  const Parts& parts_;
  Value word_;
  Value previous_;
  Axis output_;
  std::optional<Value> state_;
};

/// Which state asks, how it is compared with the encoder's states, and where the context goes.
struct AlignmentVariant {
  std::string_view name;
  std::string_view summary;
  std::string_view score;            // a row of scoring_functions(); empty: there is no attention
  std::size_t contexts_in_cell;      // how many contexts the cell's input holds besides the word: 0 or 1
  std::size_t contexts_joined;       // how many stand beside the state where the output is predicted
  Value (*step)(DecoderStep& step);  // returns what the output is predicted from, and names it `joined`
};

/// bahdanau (the default), luong, scaled-dot, none. A new variant is a function of a step and a row.
std::span<const AlignmentVariant> alignment_variants();

}  // namespace attn
