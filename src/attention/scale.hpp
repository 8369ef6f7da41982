#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/op/operations.hpp"

namespace attn {

/// What the scores are divided by before the softmax, given the size of a key; nothing for `none`.
struct Scale {
  std::string_view name;
  std::string_view summary;
  std::optional<Scalar> (*divisor)(std::size_t d_k);
};

/// sqrt-dk and none.
std::span<const Scale> scales();

/// The divisor for a scale's name or for a number. `d_k` is 0 when the keys are not known.
/// Throws InputError: an unknown name, a number that is not positive, sqrt-dk without keys.
std::optional<Scalar> divisor(std::string_view scale, std::size_t d_k);

}  // namespace attn
