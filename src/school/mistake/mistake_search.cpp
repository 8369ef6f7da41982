#include "school/mistake/mistake_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "core/graph/operation.hpp"
#include "core/support/error.hpp"

namespace attn {

NodesWhere::NodesWhere(const Graph& graph, const std::function<bool(const Node& node)>& where) {
  std::vector<bool> at(graph.nodes().size(), false);
  for (const Node& node : graph.nodes()) {
    if (!where(node)) continue;
    at[node.index] = true;
    indices_.push_back(node.index);
    if (!first_) first_ = &node;
  }
  at_ = std::make_shared<const std::vector<bool>>(std::move(at));
}

bool NodesWhere::overlap(const NodesWhere& other) const {
  return std::ranges::any_of(indices_, [&](std::size_t i) { return i < other.at_->size() && (*other.at_)[i]; });
}

std::vector<PlacedMistake> placed_mistakes(const Graph& graph) {
  std::vector<PlacedMistake> placed;
  for (const Mistake& mistake : mistakes()) {
    NodesWhere places(graph, mistake.where);
    if (!places.first()) continue;
    placed.push_back({&mistake, places});
    for (const Mistake::Instead variant : mistake.variants) {
      if (variant) placed.push_back({&mistake, places, variant});
    }
  }
  return placed;
}

Change numbers_of(const Node& original, const Matrix& theirs) {
  const Node* const node = &original.original();
  return {[node](const Node& asked) { return &asked == node; },
          [&theirs](RewriteSite at) {
            // What is made of a matrix of another shape is another computation.
            if (theirs.shape() != at.node.frame.shape) fail("{} has another shape", at.node.title());
            return at.like(theirs);
          }};
}

RecomputedMatrices::RecomputedMatrices(RecomputedMatrices& before, const std::vector<Change>& more, std::size_t first)
    : again_(before.again_, more, first), compared_(before.compared_) {}

bool RecomputedMatrices::changes(std::size_t i) {
  try {
    return again_.changes(*compared_[i].node);
  } catch (const InputError&) {
    return false;
  }
}

std::shared_ptr<const Matrix> RecomputedMatrices::at(std::size_t i) {
  try {
    return again_.of(*compared_[i].node).node().cells();
  } catch (const InputError&) {
    return nullptr;
  }
}

bool RecomputedMatrices::explains(std::size_t i) {
  const std::shared_ptr<const Matrix> numbers = at(i);
  return numbers && agree(*compared_[i].theirs, *numbers, compared_[i].rounding);
}

bool RecomputedMatrices::keeps_those_before(std::size_t place) {
  for (std::size_t i = 0; i < place; ++i) {
    if (changes(i) && !explains(i)) return false;
  }
  return true;
}

CellEvidence cell_evidence(const ComparedMatrix& matrix, const Matrix& without, const Matrix& with) {
  CellEvidence evidence;
  const Matrix& theirs = *matrix.theirs;
  if (without.shape() != theirs.shape() || with.shape() != theirs.shape()) return evidence;
  const double largest = std::max(largest_of(without), largest_of(with));
  std::set<std::pair<double, double>> seen;
  for (std::size_t i = 0; i < theirs.shape().rows; ++i) {
    std::size_t in_row = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < theirs.shape().columns; ++j) {
      const double apart = std::fabs(with(i, j) - without(i, j));
      const double room = matrix.rounding.most_apart(theirs(i, j), with(i, j), largest);
      if (!std::isfinite(apart) || !std::isfinite(theirs(i, j)) || apart <= 2.0 * room) continue;
      if (!seen.insert({theirs(i, j), without(i, j)}).second) continue;
      const double digits = std::min(std::log10(apart / std::max(room, 1e-300)), 15.0);
      least = std::min(least, digits);
      evidence.digits += digits;
      ++in_row;
    }
    if (in_row == theirs.shape().columns && in_row > 1 && matrix.node->rows_sum_to_one()) {
      --in_row;
      evidence.digits -= least;
    }
    evidence.independent += in_row;
  }
  return evidence;
}

ExplanatoryPower explanatory_power(RecomputedMatrices& remade, std::span<const ComparedMatrix> compared,
                                   std::size_t place) {
  if (!remade.changes(place) || !remade.explains(place)) return {};
  ExplanatoryPower explained{1};
  for (std::size_t i = place + 1; i < compared.size(); ++i) {
    if (!remade.explains(i)) {
      explained.keeps_right = !compared[i].difference.agrees();
      break;
    }
    if (!compared[i].difference.agrees()) ++explained.count;
  }
  return explained;
}

// --- ground

std::vector<Change> SearchGround::with(std::initializer_list<Change> more) const {
  std::vector<Change> all = granted;
  all.insert(all.end(), more);
  return all;
}

std::vector<const PlacedMistake*> SearchGround::possible_for(std::size_t place) const {
  std::vector<const PlacedMistake*> found;
  for (const PlacedMistake& one : possible) {
    if (one.places.first()->index <= compared[place].node->index) found.push_back(&one);
  }
  return found;
}

std::size_t SearchGround::that_differ(std::size_t from) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      compared.subspan(from), [](const ComparedMatrix& one) { return !one.difference.agrees(); }));
}

// --- work

namespace {

// What it takes to compute a node again: what its operation costs, and what any node costs.
std::uint64_t work_of_node(const Node& node) {
  constexpr std::uint64_t least = 2000, for_multiply_add = 1, for_element = 8;
  if (!node.op || node.is_alias()) return least;
  std::vector<Shape> shapes;
  for (const Node* operand : node.operands) shapes.push_back(operand->frame.shape);
  const Cost cost = cost_of(*node.op, node.use(), shapes);
  return least + cost.multiply_adds * for_multiply_add + cost.element_operations * for_element;
}

}  // namespace

std::vector<std::uint64_t> work_up_to(const Node& last) {
  std::vector<bool> is_needed(last.index + 1, false);
  is_needed[last.index] = true;
  std::vector<std::uint64_t> work(last.index + 2, 0);
  for (std::size_t i = last.index + 1; i-- > 0;) {
    work[i] = work[i + 1];
    if (!is_needed[i]) continue;
    const Node& node = last.graph->nodes()[i];
    work[i] += work_of_node(node);
    for (const Node* operand : node.operands) is_needed[operand->index] = true;
  }
  return work;
}

std::uint64_t work_for(const Node& node) { return work_up_to(node.original()).front(); }

}  // namespace attn
