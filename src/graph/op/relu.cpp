#include "graph/op/cell_function.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

constexpr CellFunction kind = {"relu", &rectifier};

}  // namespace

Value relu(Value x) {
  return apply_to_cells(kind, std::move(x));
}

}  // namespace attn
