#pragma once

#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "core/graph/expression.hpp"
#include "core/graph/graph.hpp"

namespace attn {

/// The value of the tree, worked out from its leaves, and those from the matrices they point into.
inline double evaluated(const Expression& expression) {
  std::vector<double> parts;
  for (const Expression& part : expression.parts) parts.push_back(evaluated(part));
  switch (expression.kind) {
    case Expression::Kind::number:
      return expression.value;
    case Expression::Kind::cell:
      return expression.cell.node->matrix()(expression.cell.row, expression.cell.column);
    case Expression::Kind::sum:
      return std::accumulate(parts.begin(), parts.end(), 0.0);
    case Expression::Kind::difference:
      return parts.at(0) - parts.at(1);
    case Expression::Kind::product:
      return std::accumulate(parts.begin(), parts.end(), 1.0, std::multiplies());
    case Expression::Kind::quotient:
      return parts.at(0) / parts.at(1);
    case Expression::Kind::square:
      return parts.at(0) * parts.at(0);
    case Expression::Kind::call:
      return expression.function->evaluate(parts.at(0));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace attn
