#include "graph/op/broadcast.hpp"
#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

class Subtract final : public Operation {
 public:
  std::string_view name() const override { return "subtract"; }

  Frame frame(Operands operands) const override {
    Broadcast::beside(*operands[0], *operands[1]);
    return operands[0]->frame;
  }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    const Matrix& y = operands[1].matrix();
    const Broadcast place{shape_of(y)};
    for (std::size_t i = 0; i < result.shape()[0]; ++i) {
      const std::span<double> cells = row(result, i);
      const std::span<const double> other = row(y, place.row(i));
      if (other.size() == cells.size()) {
        attn::subtract(cells, other);
      } else {
        for (double& cell : cells) cell -= other[0];
      }
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {operands[0].plain + " − " + operands[1].plain, operands[0].latex + " - " + operands[1].latex};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Broadcast place{operands[1]->frame.shape};
    Expression x = cell(*operands[0], row, column),
               y = cell(*operands[1], place.row(row), place.column(column));
    return {std::move(x) - std::move(y)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }
};

}  // namespace

Value subtract(Value x, Value y) {
  return apply(Subtract(), std::move(x), std::move(y));
}

}  // namespace attn
