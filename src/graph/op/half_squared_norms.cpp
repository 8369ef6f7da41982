#include "graph/op/operations.hpp"

namespace attn {
namespace {

class HalfSquaredNorms final : public Operation {
 public:
  std::string_view name() const override { return "half_squared_norms"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("norm")};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& x = operands[0].matrix();
    Matrix result({x.shape().rows, 1}, 0.0);
    for (std::size_t i = 0; i < x.shape().rows; ++i) {
      for (const double value : row(x, i)) result(i, 0) += value * value;
      result(i, 0) /= 2.0;
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"½‖" + operands[0].plain + "‖²", "\\tfrac{1}{2} \\lVert " + operands[0].latex + " \\rVert^{2}"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    std::vector<Expression> squares;
    for (std::size_t k = 0; k < operands[0]->frame.shape.columns; ++k) {
      squares.push_back(squared(cell(*operands[0], row, k)));
    }
    return {sum(std::move(squares)) / number(2.0)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].cells(), .element_operations = operands[0].rows};
  }
};

}  // namespace

Value half_squared_norms(Value x) {
  return apply(HalfSquaredNorms(), std::move(x));
}

}  // namespace attn
