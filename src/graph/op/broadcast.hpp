#pragma once

#include "graph/operation.hpp"
#include "support/error.hpp"

namespace attn {

/// A matrix that stands beside another of `m × n` cells: of the same shape, or one row or one column for all
/// of them.
struct Broadcast {
  Shape shape;

  std::size_t row(std::size_t i) const { return shape.rows == 1 ? 0 : i; }
  std::size_t column(std::size_t j) const { return shape.columns == 1 ? 0 : j; }

  /// Throws InputError when `y` cannot stand beside `x`.
  static Broadcast beside(const Node& x, const Node& y);
};

}  // namespace attn
