#include "graph/op/operations.hpp"

namespace attn {
namespace {

class Transpose final : public Operation {
 public:
  std::string_view name() const override { return "transpose"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.columns, x.shape.rows}, x.columns, x.rows};
  }

  Matrix compute(std::span<Value> operands) const override { return transposed(operands[0].matrix()); }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {x.plain + "ᵀ", "{" + x.latex + "}^{\\top}"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], column, row)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }
};

}  // namespace

Value transpose(Value x) {
  return apply(Transpose(), std::move(x));
}

}  // namespace attn
