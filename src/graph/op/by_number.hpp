#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"
#include "graph/op/operations.hpp"

namespace attn {

/// An operation on every cell of a matrix and one number, as its file in this folder defines it.
struct ByNumber {
  std::string_view name;
  void (*cells)(std::span<double> x, double number);  // x ← x ∘ number
  Formula (*formula)(const Formula& x, const Formula& number);
  Expression (*expression)(Expression x, Expression number);
};

/// [m, n] -> [m, n].  `kind` lives for ever.
Value by_number(const ByNumber& kind, Value x, Scalar number);

}  // namespace attn
