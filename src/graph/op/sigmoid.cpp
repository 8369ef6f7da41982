#include <cmath>

#include "graph/op/cell_function.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

constexpr CellFunction kind = {"sigmoid", &logistic, [](std::span<double> x) {
                                 for (double& value : x) value = 1.0 / (1.0 + std::exp(-value));
                               }};

}  // namespace

Value sigmoid(Value x) {
  return apply_to_cells(kind, std::move(x));
}

}  // namespace attn
