#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attention/problem.hpp"

namespace attn {
namespace {

// Whatever stands in for a masked score must lie far below the real ones.
void warn_of_leak(const Node& node, std::vector<std::string>& found) {
  const std::span<const double> scores = cells(node.operands[0]->matrix());
  const std::span<const double> allowed = cells(node.operands[1]->matrix());
  const std::span<const double> masked = cells(node.matrix());
  double lowest = std::numeric_limits<double>::infinity();
  double fill = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (allowed[i] != 0.0) lowest = std::min(lowest, scores[i]);
    if (allowed[i] == 0.0) fill = masked[i];
  }
  if (std::isfinite(fill) && lowest <= fill) {
    found.push_back(
        fmt::format("{}: the real score {:.6g} is not above the fill {:.6g}, so the mask leaks: give a "
                    "lower --mask-fill, or none for −∞",
                    node.name, lowest, fill));
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

}  // namespace

std::vector<std::string> warnings(const Graph& graph) {
  std::vector<std::string> found;
  for (const Node& node : graph.nodes()) {
    if (!node.operation || !node.kept) continue;
    if (node.operation->name() == "mask") warn_of_leak(node, found);
    if (node.operation->name() == "softmax") warn_of_empty_rows(node, found);
  }
  return found;
}

}  // namespace attn
