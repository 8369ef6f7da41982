#include "school/tutor/learner_knowledge.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/graph/graph.hpp"
#include "core/support/number.hpp"
#include "core/term/expression_functions.hpp"
#include "school/tutor/other_answers.hpp"

namespace attn {

namespace {

bool has_numbers_of(const Matrix& table, const Node& node) {
  if (table.shape() != node.frame.shape) return false;
  return std::ranges::equal(cells(table), cells(node.matrix()),
                            [](double a, double b) { return a == b || equal_but_for_last_bits(a, b); });
}

// Whether a number is computed, and each of those with which it is explained has a property.
template <class Property>
bool is_explained_with(const Cell& cell, const Property& property) {
  if (!cell.node->original().op) return false;
  const std::vector<Cell> parts = cells_of(explain(cell).term);
  return std::ranges::all_of(parts, [&](const Cell& part) { return part != cell && property(part); });
}

void add_cells(const Term& working, std::vector<Cell>& found) {
  if (working.kind == Term::Kind::cell) found.push_back({working.node, working.row, working.column});
  for (const Term& part : working.parts) add_cells(part, found);
}

std::vector<Cell> cells_in(const Term& working) {
  std::vector<Cell> found;
  add_cells(working, found);
  return found;
}

// Whether it is explained with such numbers, in a few steps.
template <class IsThere>
bool is_worked_out(const Cell& cell, const IsThere& is_there, int depth = 3) {
  return is_explained_with(cell, [&](const Cell& part) {
    return is_there(part) || (depth > 1 && is_worked_out(part, is_there, depth - 1));
  });
}

}  // namespace

LearnerKnowledge::LearnerKnowledge(const SolvedQuestion& solved)
    : numbers_(numbers_in(solved.question.ask)), data_(data_in(solved.question.ask)), shown_(solved.shown) {}

bool LearnerKnowledge::is_shown(const Node& node) const {
  if (!shown_) return false;
  const auto [found, is_new] = is_shown_.try_emplace(&node, false);
  if (!is_new) return found->second;
  const auto [begin, end] = shown_->equal_range(node.name);
  found->second = std::any_of(begin, end, [&](const auto& table) { return has_numbers_of(*table.second, node); });
  return found->second;
}

bool LearnerKnowledge::has_shape(const Node& node) const {
  const Shape shape = node.frame.shape;
  const auto stands = [&](std::size_t size) {
    return std::ranges::find(numbers_, static_cast<double>(size)) != numbers_.end();
  };
  return (stands(shape.rows) && stands(shape.columns)) || is_shown(node);
}

bool LearnerKnowledge::stands(const Cell& cell) const {
  return std::ranges::any_of(numbers_, [&](double number) { return stands_for(number, cell.value()); });
}

bool LearnerKnowledge::has(const Cell& cell) const {
  return !std::isfinite(cell.value()) || stands(cell) || is_shown(*cell.node);
}

bool LearnerKnowledge::can_work_out(const Cell& cell) const {
  return is_worked_out(cell, [&](const Cell& part) { return has(part); });
}

bool LearnerKnowledge::can_work_out_from_question(const Cell& cell) const {
  return is_worked_out(cell, [&](const Cell& part) { return stands(part); });
}

std::vector<double> LearnerKnowledge::in_other_tables(const Cell& cell) const {
  std::vector<double> numbers;
  if (!shown_) return numbers;
  const auto [begin, end] = shown_->equal_range(cell.node->name);
  for (auto table = begin; table != end; ++table) {
    const Matrix& other = *table->second;
    if (other.shape() == cell.node->frame.shape && !has_numbers_of(other, *cell.node))
      numbers.push_back(other(cell.row, cell.column));
  }
  return numbers;
}

bool LearnerKnowledge::can_work_out_from_tables(const Cell& cell) const {
  return is_explained_with(cell, [&](const Cell& part) { return is_shown(*part.node); });
}

bool LearnerKnowledge::has_all_of(const Term& working) const {
  const Cell cell{working.node, working.row, working.column};
  if (working.kind == Term::Kind::cell && !has(cell) && !can_work_out(cell)) return false;
  return std::ranges::all_of(working.parts, [&](const Term& part) { return has_all_of(part); });
}

std::set<const Node*> LearnerKnowledge::still_to_compute(const Term& asked, bool masks) const {
  const auto is_masked = [&](const Node& node) {
    return masks && std::ranges::any_of(node.original().operands,
                                        [](const Node* operand) { return operand->content() == Content::permissions; });
  };
  constexpr std::size_t most_cells_followed = 4000;
  std::set<Cell> seen, there;
  std::vector<Cell> found;
  std::set<const Node*> open;
  for (const Cell& cell : cells_in(asked)) {
    if (asked.kind == Term::Kind::cell || !has(cell)) found.push_back(cell);
  }
  if (cells_in(asked).empty()) std::ranges::copy(nodes_of(asked), std::inserter(open, open.end()));
  while (!found.empty()) {
    const Cell cell = found.back();
    found.pop_back();
    if (!seen.insert(cell).second) continue;
    open.insert(cell.node);
    if (!cell.node->original().op || seen.size() > most_cells_followed) continue;
    for (const Cell& part : cells_of(explain(cell).term)) {
      if (part == cell) continue;
      if (has(part) && !is_masked(*part.node)) {
        there.insert(part);
      } else {
        found.push_back(part);
      }
    }
  }
  std::set<const Node*> ends;
  for (const Cell& cell : there) {
    if (!open.contains(cell.node)) ends.insert(cell.node);
  }
  // And the nodes without a name between them.
  std::vector<const Node*> nodes(open.begin(), open.end());
  while (!nodes.empty()) {
    const Node& node = *nodes.back();
    nodes.pop_back();
    for (const Node* operand : node.operands) {
      const bool is_there = ends.contains(operand) || is_shown(*operand);
      const bool is_mask = masks && operand->content() == Content::permissions;
      if ((!is_there || is_mask) && open.insert(operand).second) nodes.push_back(operand);
    }
  }
  return open;
}

bool stands_for(double number, double value) {
  const std::string digits = written(std::fabs(number));
  const std::size_t point = digits.find('.');
  if (point == std::string::npos) return number == value || equal_but_for_last_bits(number, value);
  const double half = 0.5 * std::pow(10.0, -static_cast<double>(digits.size() - point - 1));
  return std::fabs(value - number) <= half * (1 + 1e-9);
}

}  // namespace attn
