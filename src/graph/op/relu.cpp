#include <algorithm>

#include "graph/op/cell_function.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

constexpr CellFunction kind = {"relu", &rectifier, [](std::span<double> x) {
                                 for (double& value : x) value = std::max(value, 0.0);
                               }};

}  // namespace

Value relu(Value x) {
  return apply_to_cells(kind, std::move(x));
}

}  // namespace attn
