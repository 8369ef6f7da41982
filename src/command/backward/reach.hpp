#pragma once

#include <map>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// From which numbers a number is computed, as its explanation says, whatever their values. Where masks
/// count, a masked score has no part in anything.
std::vector<Cell> terms_of(const Cell& cell, bool with_masks);

/// Some cells of each matrix.
class Marked {
 public:
  void mark(const Cell& cell);
  bool has(const Cell& cell) const;
  bool has_any(const Node& node) const { return marks_.contains(&node.original()); }

 private:
  std::map<const Node*, std::vector<bool>> marks_;
};

/// All numbers that are computed from some of one matrix, up to `last`; and all from which they are computed.
Marked computed_from(const std::vector<Cell>& cells, const Node& last, bool with_masks);
Marked leading_to(const std::vector<Cell>& cells, bool with_masks);

}  // namespace attn
