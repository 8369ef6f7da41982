#include "command/backward/reach.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rows.hpp"
#include "core/op/backward.hpp"
#include "core/op/operations.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// --- reach

namespace {

// The values of masked keys have no part in a weighted sum.
std::vector<Cell> terms_of_weighted_sum(const Cell& cell, bool with_masks) {
  const Node &weights = *cell.node->operands[0], &values = *cell.node->operands[1];
  const Node* const scores = scores_behind(weights);
  std::vector<Cell> terms;
  for (std::size_t k = 0; k < values.frame.shape.rows; ++k) {
    if (with_masks && scores && is_masked(scores->cell(cell.row, k))) continue;
    terms.push_back({&weights, cell.row, k});
    terms.push_back({&values, k, cell.column});
  }
  return terms;
}

std::vector<Cell> terms_of_softmax(const Cell& cell, bool with_masks) {
  const Node& scores = *cell.node->operands.front();
  std::vector<Cell> terms;
  if (with_masks && is_masked(scores.cell(cell.row, cell.column))) return terms;
  for (std::size_t j = 0; j < scores.frame.shape.columns; ++j) {
    const Cell term{&scores, cell.row, j};
    if (!with_masks || !is_masked(term.value())) terms.push_back(term);
  }
  return terms;
}

}  // namespace

std::vector<Cell> terms_of(const Cell& cell, bool with_masks) {
  const Node& node = *cell.node;
  if (!node.op) return {};
  if (!with_masks && node.op == &op::mask) return {{node.operands.front(), cell.row, cell.column}};
  if (node.op == &op::softmax) return terms_of_softmax(cell, with_masks);
  const bool is_sum = node.op == &op::matmul && node.operands.front()->content() == Content::weights;
  if (is_sum) return terms_of_weighted_sum(cell, with_masks);
  return cells_of(explain(node, cell.row, cell.column).term);
}

void Marked::mark(const Cell& cell) {
  const Node& node = cell.node->original();
  std::vector<bool>& marks = marks_[&node];
  marks.resize(node.frame.shape.cells());
  marks[cell.row * node.frame.shape.columns + cell.column] = true;
}

bool Marked::has(const Cell& cell) const {
  const Node& node = cell.node->original();
  const auto found = marks_.find(&node);
  return found != marks_.end() && found->second[cell.row * node.frame.shape.columns + cell.column];
}

namespace {

template <class Use>
void for_each_cell(const Node& node, const Use& use) {
  for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
    for (std::size_t j = 0; j < node.frame.shape.columns; ++j) use(Cell{&node, i, j});
  }
}

}  // namespace

Marked computed_from(const std::vector<Cell>& cells, const Node& last, bool with_masks) {
  Marked marked;
  for (const Cell& cell : cells) marked.mark(cell);
  const std::deque<Node>& nodes = last.graph->nodes();
  for (std::size_t i = cells.front().node->original().index + 1; i <= last.original().index; ++i) {
    const Node& node = nodes[i];
    const auto has_any = [&](const Node* operand) { return marked.has_any(*operand); };
    if (node.is_alias() || node.family == &family::gradient || std::ranges::none_of(node.operands, has_any)) continue;
    for_each_cell(node, [&](const Cell& one) {
      const std::vector<Cell> terms = terms_of(one, with_masks);
      if (std::ranges::any_of(terms, [&](const Cell& term) { return marked.has(term); })) marked.mark(one);
    });
  }
  return marked;
}

Marked leading_to(const std::vector<Cell>& cells, bool with_masks) {
  Marked marked;
  const Node& last = cells.front().node->original();
  for (const Cell& cell : cells) marked.mark(cell);
  const std::deque<Node>& nodes = last.graph->nodes();
  for (std::size_t i = last.index + 1; i-- > 0;) {
    if (!marked.has_any(nodes[i])) continue;
    for_each_cell(nodes[i], [&](const Cell& one) {
      if (!marked.has(one)) return;
      for (const Cell& term : terms_of(one, with_masks)) marked.mark(term);
    });
  }
  return marked;
}

// --- sensitivity

Sensitivity::Sensitivity(const Node& of, const std::vector<const Node*>& by)
    : copy_(copied_up_to(of)), upstream_(std::make_shared<Matrix>(of.frame.shape, 0.0)) {
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
