#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// An operation that applies a function of one number to every cell, as its file in this folder defines it.
struct CellFunction {
  std::string_view name;
  const Function* function;            // how it is written and explained
  void (*cells)(std::span<double> x);  // x ← f(x)
};

/// [m, n] -> [m, n].  `kind` lives for ever.
Value apply_to_cells(const CellFunction& kind, Value x);

}  // namespace attn
