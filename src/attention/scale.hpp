#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "op/operations.hpp"

namespace attn {

/// How large a key is and how many there are; 0 where only scores are given and keys are not known.
struct KeySizes {
  std::size_t d_k = 0;
  std::size_t n_k = 0;
};

/// What the scores are divided by before the softmax; nothing for `none`.
struct Scale {
  std::string_view name;
  std::string_view summary;
  std::optional<Scalar> (*divisor)(const KeySizes& sizes);
  bool counts_keys = false;  // it changes with the number of keys
};

/// sqrt-dk, none, and sqrt-n, which Stenzel 2023, Transformer Pt. 1, has by mistake.
std::span<const Scale> scales();

/// Whether the divisor changes with the number of keys; a number never does.
bool counts_keys(std::string_view scale);

/// The divisor for a scale's name or for a number.
/// Throws InputError: an unknown name, a number that is not positive, sqrt-dk without keys.
std::optional<Scalar> divisor(std::string_view scale, const KeySizes& sizes);

}  // namespace attn
