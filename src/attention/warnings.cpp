#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attention/problem.hpp"
#include "graph/op/operations.hpp"
#include "support/error.hpp"
#include "support/list.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// How much weight the masked keys of a query have.
double leaked(std::span<const double> weights, std::span<const double> allowed) {
  double sum = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) sum += allowed[j] == 0.0 ? weights[j] : 0.0;
  return sum;
}

// What stands in for a masked score must lie so far below the real ones of the same query that masked keys
// get no weight that shows.
void warn_of_leak(const Node& weights, std::vector<std::string>& found) {
  const Node& masked = weights.operands[0]->original();
  if (!masked.operation || masked.operation->name() != "mask" || !masked.operands[1]->kept) return;
  const Matrix& allowed = masked.operands[1]->matrix();
  constexpr double shows = 1e-6;
  double most = 0.0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < allowed.shape().rows; ++i) {
    const double sum = leaked(row(weights.matrix(), i), row(allowed, i));
    if (sum > most) worst = i;
    most = std::max(most, sum);
  }
  if (most < shows) return;
  found.push_back(fmt::format(
      "{}: masked keys of query {} get weight {}: the mask value {:.6g} is not far below the scores. Give a "
      "lower --mask-fill, or leave it out for −∞",
      weights.name, weights.frame.rows.label(worst), written_digits(most, 2), mask_fill(*masked.operation)));
}

void warn_of_empty_rows(const Node& node, std::vector<std::string>& found) {
  const Matrix& scores = node.operands[0]->matrix();
  std::vector<std::string> queries;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    const auto minus_infinite = [](double value) { return std::isinf(value) && value < 0.0; };
    if (std::ranges::all_of(row(scores, i), minus_infinite)) queries.push_back(node.frame.rows.label(i));
  }
  if (queries.empty()) return;
  constexpr std::size_t shown = 5;
  const std::size_t more = queries.size() > shown ? queries.size() - shown : 0;
  queries.resize(std::min(queries.size(), shown));
  if (more) queries.push_back(fmt::format("{} more", more));
  found.push_back(
      fmt::format("{}: every key is masked for {}. {} weights are set to 0", node.name,
                  queries.size() == 1 ? "query " + queries.front() : "the queries " + listed(queries),
                  queries.size() == 1 ? "Its" : "Their"));
}

// The scores, where `expanded` is what they are when they are squared out.
const Node& scores_beside(const Node& expanded) {
  const Node* content = expanded.beside(role::content);
  return content ? *content : *expanded.beside(role::scores);
}

// Numbers that are much larger than their difference lose its digits.
void warn_of_cancellation(const Node& node, std::vector<std::string>& found) {
  constexpr double rounding = 1e-9, of_its_size = 1e-12;
  const Node& scores = scores_beside(node);
  const std::span<const double> expanded = cells(node.matrix()), right = cells(scores.matrix());
  std::size_t worst = 0;
  double most = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double lost = std::fabs(expanded[i] - right[i]);
    if (lost > of_its_size * std::fabs(right[i]) && lost > most) {
      most = lost;
      worst = i;
    }
  }
  if (most <= rounding) return;
  const std::size_t columns = node.frame.shape.columns;
  const std::string cell = fmt::format("[{},{}]", worst / columns + 1, worst % columns + 1);
  found.push_back(fmt::format(
      "{0}{1} is {2:.6g}, and differs from {4}{1} by {3:.2g}: dot, half_k and half_q are so large that "
      "their difference loses digits. {4} is computed from q − k and keeps them",
      node.name, cell, expanded[worst], most, scores.name));
}

// Only masking makes a score −∞; any other number that is not finite has overflowed.
bool overflowed(double value, bool masking) {
  return std::isnan(value) || (std::isinf(value) && !(masking && value < 0.0));
}

}  // namespace

void check_overflow(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (!node.operation || !node.kept || (node.is_alias() && node.original().kept)) continue;
    const bool masking = node.may_be_masked();
    for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
      const std::span<const double> values = row(*node.kept, i);
      const auto found =
          std::ranges::find_if(values, [&](double value) { return overflowed(value, masking); });
      if (found == values.end()) continue;
      fail("{}[{},{}] is {}: that is beyond double precision; give smaller numbers", node.title(), i + 1,
           found - values.begin() + 1, std::isnan(*found) ? std::fabs(*found) : *found);
    }
  }
}

std::vector<std::string> warnings(const Graph& graph) {
  std::vector<std::string> found;
  for (const Node& node : graph.nodes()) {
    const auto is_kept = [](const Node* operand) { return operand->kept != nullptr; };
    const bool all_kept = node.kept && std::ranges::all_of(node.operands, is_kept);
    if (!node.operation || !all_kept) continue;
    if (node.operation->name() == "softmax") {
      warn_of_leak(node, found);
      warn_of_empty_rows(node, found);
    }
    if (node.is(role::expanded)) warn_of_cancellation(node, found);
  }
  return found;
}

}  // namespace attn
