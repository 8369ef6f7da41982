#include "graph/op/operations.hpp"

namespace attn {
namespace {

class Times final : public Operation {
 public:
  explicit Times(Scalar factor) : factor_(std::move(factor)) {}

  std::string_view name() const override { return "times"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    for (double& value : cells(result)) value *= factor_.value;
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::product, operands[0]);
    return {x.plain + " ⋅ " + factor_.notation.plain, x.latex + " \\cdot " + factor_.notation.latex,
            Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {product({cell(*operands[0], row, column), number(factor_.value, factor_.notation)})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  Scalar factor_;
};

}  // namespace

Value times(Value x, Scalar factor) {
  return apply(Times(std::move(factor)), std::move(x));
}

}  // namespace attn
