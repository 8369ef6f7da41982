#include "attention/pooling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "math/rows.hpp"
#include "op/operations.hpp"

namespace attn {
namespace {

constexpr double rounding = 1e-9;

bool close(double a, double b) {
  return std::fabs(a - b) <= rounding;
}

bool is_cone(std::span<const double> weights) {
  return std::ranges::all_of(weights, [](double weight) { return weight >= 0.0; });
}

bool is_convex(std::span<const double> weights) {
  return is_cone(weights) && is_one(std::accumulate(weights.begin(), weights.end(), 0.0));
}

bool is_uniform(std::span<const double> weights) {
  const double share = 1.0 / static_cast<double>(weights.size());
  return std::ranges::all_of(weights, [&](double weight) { return close(weight, share); });
}

// Exactly: beside a weight that is only nearly 1, the other keys have some weight as well.
bool is_one_hot(std::span<const double> weights) {
  const auto ones = std::ranges::count(weights, 1.0), zeros = std::ranges::count(weights, 0.0);
  return ones == 1 && static_cast<std::size_t>(ones + zeros) == weights.size();
}

std::string zero_sums(const Node& scores) {
  std::vector<std::string> queries;
  for (std::size_t i = 0; i < scores.frame.shape.rows; ++i) {
    if (sum_of(row(scores.matrix(), i)) == 0.0) queries.push_back(scores.frame.rows.label(i));
  }
  if (queries.empty()) return "";
  constexpr std::size_t shown = 5;
  const std::string more = queries.size() > shown ? ", …" : "";
  queries.resize(std::min(queries.size(), shown));
  return fmt::format(
      "The scores of {} {}{} sum to 0. Nothing can be divided by 0, so the weights are set to 0. The sum "
      "of exponentials in a softmax is never 0.",
      queries.size() == 1 ? "query" : "queries", fmt::join(queries, ", "), more);
}

// Where dividing scores by their sum fails.  (Zhang et al., Dive into Deep Learning, 11.1)
std::vector<std::string> remarks_on_sums(const Node& scores) {
  std::vector<std::string> remarks;
  if (std::ranges::any_of(cells(scores.matrix()), [](double score) { return score < 0.0; })) {
    remarks.emplace_back(
        "Some scores are negative. Dividing by the sum can then give negative weights or weights above 1, or "
        "reverse the order: if all scores of a row are negative, the lowest gets the largest weight. Softmax "
        "first takes the exponential, which is positive and keeps the order.");
  }
  if (std::string zero = zero_sums(scores); !zero.empty()) remarks.push_back(std::move(zero));
  return remarks;
}

constexpr std::array pooling_table = {
    Pooling{"average", "average", "every key has the same weight", uniform},
    Pooling{"look-up", "lookup", "the key with the largest score has weight 1 (of several, the first)",
            largest},
    Pooling{"sum", "sum", "the scores divided by their sum", normalize, remarks_on_sums},
    Pooling{"softmax", "softmax", "the exponentials of the scores divided by their sum", softmax},
};

constexpr std::array regime_table = {
    Regime{"one-hot", "exactly one weight is 1, the others are 0: a database lookup", is_one_hot},
    Regime{"uniform", "all weights are 1/m, with m keys: average pooling", is_uniform},
    Regime{"convex", "nonnegative, with sum 1: a weighted average, among the values", is_convex},
    Regime{"cone", "nonnegative, with another sum: in the cone that the values span", is_cone},
    Regime{"none", "a weight is negative: the output need not lie among the values",
           [](std::span<const double>) { return true; }},
};

}  // namespace

bool is_one(double sum) {
  return close(sum, 1.0);
}

std::span<const Pooling> poolings() {
  return pooling_table;
}

std::span<const Regime> regimes() {
  return regime_table;
}

const Regime& regime_of(std::span<const double> weights) {
  return *std::ranges::find_if(regime_table, [&](const Regime& regime) { return regime.holds(weights); });
}

}  // namespace attn
