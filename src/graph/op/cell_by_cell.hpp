#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// An operation on two matrices that works cell by cell, as its file in this folder defines it. The second
/// matrix has the shape of the first, or is one row or one column for all of it.
struct CellByCell {
  std::string_view name;
  std::string_view sign;
  std::string_view latex_sign;
  Binding binding;
  void (*cells)(std::span<double> x, std::span<const double> y);  // x ← x ∘ y
  Expression (*expression)(Expression x, Expression y);
};

/// [m, n] [m, n], [1, n] or [m, 1] -> [m, n].  `kind` lives for ever.
Value cell_by_cell(const CellByCell& kind, Value x, Value y);

}  // namespace attn
