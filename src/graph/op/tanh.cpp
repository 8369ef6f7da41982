#include "graph/op/cell_function.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

constexpr CellFunction kind = {"tanh", &hyperbolic_tangent};

}  // namespace

Value tanh(Value x) {
  return apply_to_cells(kind, std::move(x));
}

}  // namespace attn
