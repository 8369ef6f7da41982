#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/attention/attention.hpp"

namespace attn {

/// What the rows of a recurrent cell's parameter stand for: the numbers of its input, those of its last
/// state, or one bias for all. Its columns are always the numbers of a state.
enum class RecurrentRows { input, state, bias };

/// A learned matrix of a recurrent cell.
struct RecurrentParameter {
  const Role& role;
  RecurrentRows rows;
};

/// How a state becomes the next one when the network reads.  step: [1, d_x] [1, d] -> [1, d]
struct Recurrence {
  std::string_view name;
  std::string_view summary;
  std::span<const RecurrentParameter> parameters;
  Value (*step)(const Value& x, const Value& h, const Parameters& parameters);
};

/// tanh and gru. A new one is a function of values and a row.
std::span<const Recurrence> recurrences();

/// tanh(x W_xh + h W_hh + b_h), with `x_h` = x W_xh and `h_h` = h W_hh.  (Elman 1990)
Value tanh_step(const Value& x, const Value& h, const Parameters& parameters);

/// The gated recurrent unit: `reset` and `update` gates between 0 and 1, a `candidate` that sees as much of
/// the last state as the reset gate lets through, and update ⊙ h + (1 − update) ⊙ candidate.  (Cho et al.
/// 2014)
Value gru_step(const Value& x, const Value& h, const Parameters& parameters);

/// One output of a recurrent decoder, as far as the variants differ in what they do with it. The names that
/// it gives stand in the open scope.
class DecoderStep {
 public:
  /// What all steps of a decoder share.
  struct Parts {
    const Recurrence& cell;
    Parameters parameters;  // the cell's
    Value h;                // the encoder's states, keys and values at once  [n, d]
    AttentionRecipe recipe;
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
