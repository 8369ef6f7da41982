#include <fmt/format.h>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// A number that went through nodes without a name only was copied from the first one that has a name.
std::string source_of(Cell cell) {
  while (cell.node->name.empty()) {
    const Expression from =
        cell.node->operation->explain(cell.node->operands, cell.row, cell.column).expression;
    if (from.kind != Expression::Kind::cell) return "";
    cell = from.cell;
  }
  return fmt::format("copied from {}[{},{}]", cell.node->name, cell.row + 1, cell.column + 1);
}

class Labelled final : public Operation {
 public:
  explicit Labelled(Axis rows) : rows_(std::move(rows)) {}

  std::string_view name() const override { return "labelled"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (rows_.labels && rows_.labels->size() != x.shape.rows) {
      fail("{} has {} rows and {} labels: give one for each row", operands[0]->title(), x.shape.rows,
           rows_.labels->size());
    }
    return {x.shape, rows_, x.columns};
  }

  Matrix compute(std::span<Value> operands) const override { return std::move(operands[0]).take(); }
  Formula formula(std::span<const Formula> operands) const override { return operands[0]; }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row, column), source_of({operands[0], row, column})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};  // of the copy, where others hold the cells as well
  }

 private:
  Axis rows_;
};

}  // namespace

Value labelled(Value x, Axis rows) {
  return apply(Labelled(std::move(rows)), std::move(x));
}

}  // namespace attn
