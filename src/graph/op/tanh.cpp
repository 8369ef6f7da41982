#include <cmath>

#include "graph/op/operations.hpp"

namespace attn {
namespace {

class Tanh final : public Operation {
 public:
  std::string_view name() const override { return "tanh"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    for (double& value : cells(result)) value = std::tanh(value);
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"tanh(" + operands[0].plain + ")", "\\tanh\\left(" + operands[0].latex + "\\right)"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {call(hyperbolic_tangent, cell(*operands[0], row, column))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }
};

}  // namespace

Value tanh(Value x) {
  return apply(Tanh(), std::move(x));
}

}  // namespace attn
