#include "graph/op/cell_by_cell.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace attn {
namespace {

// The place in the second matrix that stands beside a place in the first.
std::size_t beside(std::size_t place, std::size_t size) {
  return size == 1 ? 0 : place;
}

class CellByCellOperation final : public Operation {
 public:
  explicit CellByCellOperation(const CellByCell& kind) : kind_(kind) {}

  std::string_view name() const override { return kind_.name; }

  Frame frame(Operands operands) const override {
    const Shape whole = operands[0]->frame.shape, part = operands[1]->frame.shape;
    const bool rows_fit = part.rows == whole.rows || part.rows == 1;
    const bool columns_fit = part.columns == whole.columns || part.columns == 1;
    if (!rows_fit || !columns_fit) {
      fail(
          "{} is {} but {} is {}: it must have the same shape, or be one row of {} or one column of {} "
          "numbers",
          operands[0]->title(), to_string(whole), operands[1]->title(), to_string(part), whole.columns,
          whole.rows);
    }
    return operands[0]->frame;
  }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    const Matrix& y = operands[1].matrix();
    const Shape part = y.shape();
    for (std::size_t i = 0; i < result.shape().rows; ++i) {
      const std::span<double> x = row(result, i);
      const std::span<const double> other = row(y, beside(i, part.rows));
      if (other.size() == x.size()) {
        kind_.cells(x, other);
      } else {
        for (double& cell : x) kind_.cells({&cell, 1}, other);
      }
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    // What is computed first stands on the left; on the right it would need parentheses: a − (b − c).
    const auto firmer = static_cast<Binding>(static_cast<int>(kind_.binding) + 1);
    const Formula left = within(kind_.binding, operands[0]), right = within(firmer, operands[1]);
    return {fmt::format("{} {} {}", left.plain, kind_.sign, right.plain),
            fmt::format("{} {} {}", left.latex, kind_.latex_sign, right.latex), kind_.binding};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shape part = operands[1]->frame.shape;
    return {kind_.expression(cell(*operands[0], row, column),
                             cell(*operands[1], beside(row, part.rows), beside(column, part.columns)))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  const CellByCell& kind_;
};

}  // namespace

Value cell_by_cell(const CellByCell& kind, Value x, Value y) {
  return apply(CellByCellOperation(kind), std::move(x), std::move(y));
}

}  // namespace attn
