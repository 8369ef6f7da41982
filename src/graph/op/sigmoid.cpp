#include "graph/op/cell_function.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

constexpr CellFunction kind = {"sigmoid", &logistic};

}  // namespace

Value sigmoid(Value x) {
  return apply_to_cells(kind, std::move(x));
}

}  // namespace attn
