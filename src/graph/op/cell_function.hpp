#pragma once

#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// An operation that applies a function of one number to every cell, as its file in this folder defines it.
struct CellFunction {
  std::string_view name;
  const Function* function;
};

/// [m, n] -> [m, n].  `kind` lives for ever.
Value apply_to_cells(const CellFunction& kind, Value x);

}  // namespace attn
