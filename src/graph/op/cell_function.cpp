#include "graph/op/cell_function.hpp"

#include <fmt/format.h>

namespace attn {
namespace {

class CellFunctionOperation final : public Operation {
 public:
  explicit CellFunctionOperation(const CellFunction& kind) : kind_(kind) {}

  std::string_view name() const override { return kind_.name; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    kind_.function->evaluate_all(cells(result));
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {fmt::format("{}({})", kind_.function->name, operands[0].plain),
            fmt::format("{}\\left({}\\right)", kind_.function->latex, operands[0].latex)};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {call(*kind_.function, cell(*operands[0], row, column))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  const CellFunction& kind_;
};

}  // namespace

Value apply_to_cells(const CellFunction& kind, Value x) {
  return apply(CellFunctionOperation(kind), std::move(x));
}

}  // namespace attn
