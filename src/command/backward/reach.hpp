#pragma once

#include <functional>
#include <map>
#include <vector>

#include "command/backward/graph_copy.hpp"
#include "core/graph/graph.hpp"
#include "page/tell/describe.hpp"

namespace attn {

/// From which numbers a number is computed, as its explanation says, whatever their values. Where masks
/// count, a masked score has no part in anything.
void each_term(const Cell& cell, bool with_masks, const TakeCells& take);

/// Some cells of each matrix.
class CellSet {
 public:
  void mark(const Cell& cell) { mark(CellsOfOperand{.node = cell.node, .row = cell.row, .column = cell.column}); }
  void mark(const CellsOfOperand& cells);
  bool has(const Cell& cell) const {
    return has_any(CellsOfOperand{.node = cell.node, .row = cell.row, .column = cell.column});
  }
  bool has_any(const CellsOfOperand& cells) const;
  bool has_any(const Node& node) const { return marks_.contains(&node.original()); }

 private:
  std::map<const Node*, std::vector<char>> marks_;
};

/// All numbers that are computed from some of one matrix, up to `last`.
CellSet dependents_of(const std::vector<Cell>& cells, const Node& last, bool with_masks);
/// All from which they are computed, of the matrices that count.
using Counts = std::function<bool(const Node& node)>;
CellSet ancestors_of(const std::vector<Cell>& cells, bool with_masks, const Counts& counts);

/// The derivatives of the numbers of one matrix by those of others, exactly: one way back, which is run for
/// one number after another.
class Sensitivity {
 public:
  /// Throws InputError as runs do.
  Sensitivity(const Node& of, const std::vector<const Node*>& by);

  /// Goes back from one number.
  void take(std::size_t row, std::size_t column);
  /// Its derivatives by the i-th of the others; null: it does not depend on that matrix.
  std::shared_ptr<const Matrix> by(std::size_t i) const;
  /// What it takes to go back once, in multiply-adds.
  std::uint64_t work() const { return plan_.work; }

 private:
  GraphCopy copy_;
  std::shared_ptr<Matrix> upstream_;
  std::vector<const Node*> gradients_;
  Plan plan_;
};

}  // namespace attn
