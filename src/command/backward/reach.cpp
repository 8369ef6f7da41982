#include "command/backward/reach.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rows.hpp"
#include "core/op/backward_pass.hpp"
#include "core/op/operations.hpp"

namespace attn {

namespace {

// --- reach

// The values of masked keys have no part in a weighted sum.
void each_of_weighted_sum(const Cell& cell, bool with_masks, const TakeCells& take) {
  const Node &weights = *cell.node->operands[0], &values = *cell.node->operands[1];
  const Node* const scores = with_masks ? scores_behind(weights) : nullptr;
  for (std::size_t k = 0; k < values.frame.shape.rows; ++k) {
    if (scores && is_masked(scores->cell(cell.row, k))) continue;
    take({.node = &weights, .row = cell.row, .column = k});
    take({.node = &values, .row = k, .column = cell.column});
  }
}

void each_of_softmax(const Cell& cell, bool with_masks, const TakeCells& take) {
  const Node& scores = *cell.node->operands.front();
  const std::size_t count = scores.frame.shape.columns;
  if (!with_masks || !scores.may_be_masked()) return take({.node = &scores, .row = cell.row, .columns = count});
  if (is_masked(scores.cell(cell.row, cell.column))) return;
  for (std::size_t j = 0; j < count; ++j) {
    if (!is_masked(scores.cell(cell.row, j))) take({.node = &scores, .row = cell.row, .column = j});
  }
}

template <class Use>
void for_each_cell(const Node& node, const Use& use) {
  for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
    for (std::size_t j = 0; j < node.frame.shape.columns; ++j) use(Cell{&node, i, j});
  }
}

}  // namespace

// --- reach

void each_term(const Cell& cell, bool with_masks, const TakeCells& take) {
  const Node& node = *cell.node;
  if (!node.op) return;
  if (!with_masks && node.op == &op::mask)
    return take({.node = node.operands.front(), .row = cell.row, .column = cell.column});
  if (node.op == &op::softmax) return each_of_softmax(cell, with_masks, take);
  const bool is_sum = node.op == &op::matmul && node.operands.front()->content() == Content::weights;
  if (is_sum) return each_of_weighted_sum(cell, with_masks, take);
  each_part(node, cell.row, cell.column, take);
}

void CellSet::mark(const CellsOfOperand& cells) {
  const Node& node = cells.node->original();
  const std::size_t columns = node.frame.shape.columns;
  std::vector<char>& marks = marks_[&node];
  marks.resize(node.frame.shape.cells());
  for (std::size_t i = 0; i < cells.rows; ++i)
    std::fill_n(marks.data() + (cells.row + i) * columns + cells.column, cells.columns, char{1});
}

bool CellSet::has_any(const CellsOfOperand& cells) const {
  const Node& node = cells.node->original();
  const auto found = marks_.find(&node);
  if (found == marks_.end()) return false;
  for (std::size_t i = 0; i < cells.rows; ++i) {
    const char* const begin = found->second.data() + (cells.row + i) * node.frame.shape.columns + cells.column;
    if (std::find(begin, begin + cells.columns, char{1}) != begin + cells.columns) return true;
  }
  return false;
}

CellSet dependents_of(const std::vector<Cell>& cells, const Node& last, bool with_masks) {
  CellSet marked;
  for (const Cell& cell : cells) marked.mark(cell);
  const std::deque<Node>& nodes = last.graph->nodes();
  for (std::size_t i = cells.front().node->original().index + 1; i <= last.original().index; ++i) {
    const Node& node = nodes[i];
    const auto has_any = [&](const Node* operand) { return marked.has_any(*operand); };
    if (node.is_alias() || node.family == &family::gradient || std::ranges::none_of(node.operands, has_any)) continue;
    for_each_cell(node, [&](const Cell& one) {
      bool depends = false;
      each_term(one, with_masks, [&](const CellsOfOperand& terms) { depends = depends || marked.has_any(terms); });
      if (depends) marked.mark(one);
    });
  }
  return marked;
}

CellSet ancestors_of(const std::vector<Cell>& cells, bool with_masks, const Counts& counts) {
  CellSet marked;
  const Node& last = cells.front().node->original();
  for (const Cell& cell : cells) marked.mark(cell);
  const std::deque<Node>& nodes = last.graph->nodes();
  for (std::size_t i = last.index + 1; i-- > 0;) {
    if (!nodes[i].op || !marked.has_any(nodes[i])) continue;
    std::map<const Node*, bool> operands;
    for (const Node* operand : nodes[i].operands) operands.emplace(operand, counts(operand->original()));
    for_each_cell(nodes[i], [&](const Cell& one) {
      if (!marked.has(one)) return;
      each_term(one, with_masks, [&](const CellsOfOperand& terms) {
        if (operands.at(terms.node)) marked.mark(terms);
      });
    });
  }
  return marked;
}

// --- sensitivity

Sensitivity::Sensitivity(const Node& of, const std::vector<const Node*>& by)
    : copy_(copy_up_to(of)), upstream_(std::make_shared<Matrix>(of.frame.shape, 0.0)) {
  const Node& from = *copy_.of.at(&of.original());
  const Value d_from = copy_.graph->input({role::other, "gradient"}, upstream_, of.frame.rows, of.frame.columns);
  std::vector<const Node*> to;
  for (const Node* node : by) {
    const auto found = copy_.of.find(&node->original());
    if (found != copy_.of.end()) to.push_back(found->second);
  }
  if (!to.empty()) {
    const Backward back(Value(from), d_from, to);
    for (const Node* node : by) {
      const auto found = copy_.of.find(&node->original());
      gradients_.push_back(found == copy_.of.end() ? nullptr : back.by(*found->second));
    }
  }
  gradients_.resize(by.size());
  std::vector<const Node*> wanted;
  std::ranges::copy_if(gradients_, std::back_inserter(wanted), [](const Node* node) { return node != nullptr; });
  plan_ = copy_.graph->run().plan_to_repeat(wanted);
}

void Sensitivity::take(std::size_t row, std::size_t column) {
  std::ranges::fill(cells(*upstream_), 0.0);
  (*upstream_)(row, column) = 1.0;
  copy_.graph->run().repeat(plan_);
}

std::shared_ptr<const Matrix> Sensitivity::by(std::size_t i) const {
  return gradients_[i] ? gradients_[i]->cells() : nullptr;
}

}  // namespace attn
