#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

class Divide final : public Operation {
 public:
  explicit Divide(Scalar divisor) : divisor_(std::move(divisor)) {}

  std::string_view name() const override { return "divide"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    attn::divide(cells(result), divisor_.value);
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {within(Binding::product, operands[0]).plain + " / " + divisor_.notation.plain,
            "\\frac{" + operands[0].latex + "}{" + divisor_.notation.latex + "}", Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row, column) / number(divisor_.value, divisor_.notation)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  Scalar divisor_;
};

}  // namespace

Value divide(Value x, Scalar divisor) {
  return apply(Divide(std::move(divisor)), std::move(x));
}

}  // namespace attn
