#include "apart/explore/ancestry.hpp"

#include <algorithm>

namespace attn {

void each_named_part(const Node& node, std::size_t row, std::size_t column, const TakeCells& take) {
  if (!node.op) return;
  each_part(node, row, column, [&](const CellsOfOperand& cells) {
    if (!cells.node->name.empty()) return take(cells);
    for (std::size_t i = cells.row; i < cells.row + cells.rows; ++i) {
      for (std::size_t j = cells.column; j < cells.column + cells.columns; ++j)
        each_named_part(*cells.node, i, j, take);
    }
  });
}

bool is_made_of(const Cell& cell, const Cell& part) {
  bool found = false;
  each_named_part(*cell.node, cell.row, cell.column, [&](const CellsOfOperand& cells) {
    found = found || (cells.node == part.node && part.row - cells.row < cells.rows &&
                      part.column - cells.column < cells.columns);
  });
  return found;
}

std::vector<const Node*> dependents_of_node(const Node& node) {
  std::vector<const Node*> made;
  const Node& made_from = node.original();
  for (const Node* other : node.graph->named()) {
    if (other->index <= node.index) continue;
    const std::vector<const Node*> operands = other->named_operands();
    if (other != &node && std::ranges::find(operands, &made_from) != operands.end()) made.push_back(other);
  }
  return made;
}

}  // namespace attn
