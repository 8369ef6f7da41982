#include "graph/op/operations.hpp"

#include <fmt/format.h>

namespace attn {
namespace {

class Uniform final : public Operation {
 public:
  std::string_view name() const override { return "uniform"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    const Shape shape = operands[0].shape();
    return Matrix(shape, 1.0 / static_cast<double>(shape.columns));
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"1 / the number of columns of " + within(Binding::whole, operands[0]).plain,
            "\\frac{1}{\\operatorname{columns}\\left(" + operands[0].latex + "\\right)}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t, std::size_t) const override {
    return {number(1.0) / number(static_cast<double>(operands[0]->frame.shape.columns)),
            "every key counts the same, whatever its score"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }
};

}  // namespace

Value uniform(Value scores) {
  return apply(Uniform(), std::move(scores));
}

}  // namespace attn
