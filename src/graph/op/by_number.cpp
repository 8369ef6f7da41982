#include "graph/op/by_number.hpp"

namespace attn {
namespace {

class ByNumberOperation final : public Operation {
 public:
  ByNumberOperation(const ByNumber& kind, Scalar number) : kind_(kind), number_(std::move(number)) {}

  std::string_view name() const override { return kind_.name; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    kind_.cells(cells(result), number_.value);
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return kind_.formula(operands[0], number_.notation);
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {kind_.expression(cell(*operands[0], row, column), attn::number(number_.value, number_.notation))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

  const Scalar& number() const { return number_; }

 private:
  const ByNumber& kind_;
  Scalar number_;
};

}  // namespace

const Scalar* number_of(const Operation& operation) {
  const auto* by = dynamic_cast<const ByNumberOperation*>(&operation);
  return by ? &by->number() : nullptr;
}

Value by_number(const ByNumber& kind, Value x, Scalar number) {
  return apply(ByNumberOperation(kind, std::move(number)), std::move(x));
}

}  // namespace attn
