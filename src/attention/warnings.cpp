#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attention/problem.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// Whatever stands in for a masked score must lie far below the real ones of the same query.
void warn_of_leak(const Node& node, std::vector<std::string>& found) {
  const Matrix &scores = node.operands[0]->matrix(), &allowed = node.operands[1]->matrix();
  for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
    double lowest = std::numeric_limits<double>::infinity(), fill = -lowest;
    for (std::size_t j = 0; j < node.frame.shape.columns; ++j) {
      if (allowed(i, j) != 0.0) lowest = std::min(lowest, scores(i, j));
      if (allowed(i, j) == 0.0) fill = std::max(fill, node.matrix()(i, j));
    }
    if (!std::isfinite(fill) || lowest > fill) continue;
    found.push_back(
        fmt::format("{}: the real score {:.6g} of query {} is not above the fill {:.6g}, so the mask leaks: "
                    "give a lower --mask-fill, or none for −∞",
                    node.name, lowest, node.frame.rows.label(i), fill));
    return;
  }
}

void warn_of_empty_rows(const Node& node, std::vector<std::string>& found) {
  const Matrix& scores = node.operands[0]->matrix();
  std::vector<std::string> queries;
  for (std::size_t i = 0; i < scores.shape()[0]; ++i) {
    const auto minus_infinite = [](double value) { return std::isinf(value) && value < 0.0; };
    if (std::ranges::all_of(row(scores, i), minus_infinite)) queries.push_back(node.frame.rows.label(i));
  }
  if (queries.empty()) return;
  constexpr std::size_t shown = 5;
  const std::size_t more = queries.size() > shown ? queries.size() - shown : 0;
  queries.resize(std::min(queries.size(), shown));
  found.push_back(fmt::format("{}: no key may be looked at by query {}{}: the weights there are zero",
                              node.name, fmt::join(queries, ", "),
                              more ? fmt::format(" and {} more", more) : ""));
}

// Only masking makes a score −∞; any other number that is not finite has overflowed.
bool overflowed(double value, bool masking) {
  return std::isnan(value) || (std::isinf(value) && !(masking && value < 0.0));
}

}  // namespace

void check_overflow(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (!node.operation || !node.kept || (node.is_alias() && node.original().kept)) continue;
    const bool masking = node.leaf() == "masked" || node.name.empty() || node.leaf() == "scaled";
    for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
      const std::span<const double> values = row(*node.kept, i);
      const auto found =
          std::ranges::find_if(values, [&](double value) { return overflowed(value, masking); });
      if (found == values.end()) continue;
      fail("{}[{},{}] is {}: that is beyond double precision; give numbers of moderate size", node.title(),
           i + 1, found - values.begin() + 1, *found);
    }
  }
}

std::vector<std::string> warnings(const Graph& graph) {
  std::vector<std::string> found;
  for (const Node& node : graph.nodes()) {
    const auto is_kept = [](const Node* operand) { return operand->kept != nullptr; };
    const bool all_kept = node.kept && std::ranges::all_of(node.operands, is_kept);
    if (!node.operation || !all_kept) continue;
    if (node.operation->name() == "mask") warn_of_leak(node, found);
    if (node.operation->name() == "softmax") warn_of_empty_rows(node, found);
  }
  return found;
}

}  // namespace attn
