#pragma once

#include <algorithm>

#include "graph/graph.hpp"

namespace attn {

/// An operation of which every row of the result needs the same row of every operand, or the only row of an
/// operand that has one.
class RowByRow : public Operation {
 public:
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return operands[operand].rows == 1 ? RowRange{0, 1} : made;
  }
};

/// An operation of which every row of the result needs the same row of the first operand and all of the
/// second.
class RowByMatrix : public Operation {
 public:
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return operand == 0 ? made : RowRange{0, operands[1].rows};
  }
};

/// A row-by-row operation that changes the cells of its first operand, in the operand's own memory where
/// they are not needed elsewhere.
class InPlace : public RowByRow {
 public:
  Frame frame(Operands operands) const override { return operands[0]->frame; }
  bool overwrites() const final { return true; }

  void compute(std::span<const Rows> operands, RowsToMake result) const final {
    const Rows& first = operands.front();
    const double* const from = first.row(result.first).data();
    if (from != result.cells) std::copy_n(from, result.shape.cells(), result.cells);
    change(result, operands.subspan(1));
  }

 protected:
  /// Changes the rows. `others` are the other operands.
  virtual void change(RowsToMake rows, std::span<const Rows> others) const = 0;
};

}  // namespace attn
