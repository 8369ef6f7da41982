#include "school/check/rounded_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "core/support/error.hpp"
#include "school/mistake/mistake_search.hpp"

namespace attn {
namespace {

// Decimals to which numbers were rounded, and not written so by hand: there are many, and all digits occur.
std::optional<int> rounded_decimals(const Matrix& matrix) {
  constexpr int least = 3, most = 6;
  constexpr std::size_t few = 12;
  if (matrix.size() < few) return std::nullopt;
  const Rounding rounding = rounding_of(matrix, Precision::float64, largest_of(matrix));
  const std::optional<int> decimals = rounding.decimals();
  if (!decimals || *decimals < least || *decimals > most) return std::nullopt;
  const double unit = std::pow(10.0, 1 - *decimals);
  const auto has_last_digit = [&](double x) { return std::fabs(x / unit - std::nearbyint(x / unit)) > 1e-6; };
  const auto with_last = static_cast<std::size_t>(std::ranges::count_if(cells(matrix), has_last_digit));
  return 5 * with_last >= 4 * matrix.size() ? decimals : std::nullopt;
}

// Inputs whose numbers were rounded.
struct RoundedInput {
  const Node* node;
  int decimals;
};

std::vector<RoundedInput> rounded_inputs(const Graph& graph) {
  std::vector<RoundedInput> found;
  for (const Node& node : graph.nodes()) {
    if (node.op || !node.given || node.content() != Content::numbers) continue;
    if (const std::optional<int> decimals = rounded_decimals(*node.given)) found.push_back({&node, *decimals});
  }
  return found;
}

// Each number of an input somewhere else within its rounding.
Matrix moved(const Matrix& input, int decimals, std::mt19937& generator) {
  const double half = 0.5 * std::pow(10.0, -decimals);
  std::uniform_real_distribution<double> within(-half, half);
  Matrix other = input;
  for (double& x : cells(other)) x += within(generator);
  return other;
}

}  // namespace

void allow_for_rounded_inputs(const Graph& graph, std::vector<ComparedMatrix>& compared) {
  const std::vector<RoundedInput> inputs = rounded_inputs(graph);
  const auto is_affected = [](const ComparedMatrix& one) {
    return one.node->op && !one.difference.agrees() && !one.difference.has_other_shape && one.rounding.decimals();
  };
  if (inputs.empty() || std::ranges::none_of(compared, is_affected)) return;
  constexpr int tries = 12;
  constexpr double beyond = 2.0;  // numbers that were not tried may change a result more
  std::vector<double> apart(compared.size(), 0.0);
  std::mt19937 generator(1);
  for (int i = 0; i < tries; ++i) {
    std::vector<Change> changes;
    for (const RoundedInput& input : inputs) {
      const auto other = std::make_shared<const Matrix>(moved(*input.node->given, input.decimals, generator));
      changes.push_back({[node = input.node](const Node& asked) { return &asked == node; },
                         [other](RewriteSite at) { return std::optional(at.like(*other)); }});
    }
    RecomputedMatrices remade(graph, compared, std::move(changes));
    for (std::size_t k = 0; k < compared.size(); ++k) {
      const std::shared_ptr<const Matrix> now = is_affected(compared[k]) ? remade.at(k) : nullptr;
      if (!now) continue;
      const Matrix& right = compared[k].node->matrix();
      for (std::size_t cell = 0; cell < right.size(); ++cell) {
        const double by = std::fabs(cells(*now)[cell] - cells(right)[cell]);
        if (std::isfinite(by)) apart[k] = std::max(apart[k], by);
      }
    }
  }
  const int decimals = std::ranges::min(inputs, {}, &RoundedInput::decimals).decimals;
  for (std::size_t k = 0; k < compared.size(); ++k) {
    ComparedMatrix& one = compared[k];
    if (!is_affected(one) || apart[k] == 0.0) continue;
    one.rounding.allow_more(beyond * apart[k], decimals);
    one.difference = difference(*one.theirs, one.node->matrix(), one.rounding);
  }
}

}  // namespace attn
