#pragma once

#include <span>
#include <string_view>

#include "core/graph/operation.hpp"

namespace attn {

/// An operation that has no derivative everywhere, and where it has none.
struct Kink {
  const Op* op;
  /// Whether a change of a row of its first operand, along a straight line, meets a place without a derivative: one
  /// between both rows, or the first row itself. Both have the same size; of equal rows it does not.
  bool (*meets)(std::span<const double> before, std::span<const double> after);
  std::string_view because;  // such a step is of no use, in a clause and further sentences
};

/// All of them. Every other operation has a derivative wherever it has a result, but for the derivatives of functions
/// with a kink, which jump there.
std::span<const Kink> kinks();

/// That of an operation; null: it has a derivative everywhere.
const Kink* kink_of(const Op& op);

}  // namespace attn
