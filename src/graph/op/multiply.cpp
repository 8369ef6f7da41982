#include "graph/op/cell_by_cell.hpp"
#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

constexpr CellByCell kind = {
    "multiply",     "⊙",
    "\\odot",       Binding::product,
    attn::multiply, [](Expression x, Expression y) {
                               return product({std::move(x), std::move(y)}); }};

}  // namespace

Value multiply(Value x, Value y) {
  return cell_by_cell(kind, std::move(x), std::move(y));
}

}  // namespace attn
