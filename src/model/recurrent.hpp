#pragma once

#include <span>
#include <string_view>

#include "attention/recipe.hpp"

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

}  // namespace attn
