#include "graph/op/cell_by_cell.hpp"
#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

constexpr CellByCell kind = {
    "subtract", "−", "-", Binding::sum, attn::subtract, [](Expression x, Expression y) {
      return std::move(x) - std::move(y);
    }};

}  // namespace

Value subtract(Value x, Value y) {
  return cell_by_cell(kind, std::move(x), std::move(y));
}

}  // namespace attn
