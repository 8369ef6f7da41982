#include "graph/op/operations.hpp"
#include "math/rows.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Add final : public Operation {
 public:
  std::string_view name() const override { return "add"; }

  Frame frame(Operands operands) const override {
    const Frame &x = operands[0]->frame, &y = operands[1]->frame;
    const bool one_row = y.shape == Shape{1, x.shape.columns};
    if (!one_row && y.shape != x.shape) {
      fail("{} is {} but {} is {}: it must have the same shape, or be one row of {} numbers",
           operands[0]->title(), to_string(x.shape), operands[1]->title(), to_string(y.shape),
           x.shape.columns);
    }
    return x;
  }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    const Matrix& y = operands[1].matrix();
    for (std::size_t i = 0; i < result.shape()[0]; ++i) {
      attn::add(row(result, i), row(y, row_of(shape_of(y), i)));
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {operands[0].plain + " + " + operands[1].plain, operands[0].latex + " + " + operands[1].latex};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {sum({cell(*operands[0], row, column),
                 cell(*operands[1], row_of(operands[1]->frame.shape, row), column)})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  static std::size_t row_of(Shape shape, std::size_t i) { return shape.rows == 1 ? 0 : i; }
};

}  // namespace

Value add(Value x, Value y) {
  return apply(Add(), std::move(x), std::move(y));
}

}  // namespace attn
