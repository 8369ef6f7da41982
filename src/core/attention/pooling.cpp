#include "core/attention/pooling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/math/product.hpp"
#include "core/math/random.hpp"
#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"

namespace attn {

namespace {

// --- pooling

constexpr double rounding = 1e-9;

bool close(double a, double b) { return std::fabs(a - b) <= rounding; }

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
    if (sum_of(row(scores.matrix(), i)) == 0.0) queries.push_back(place_in_lists(scores.frame.rows, i));
  }
  if (queries.empty()) return "";
  constexpr std::size_t shown = 5;
  const std::string more = queries.size() > shown ? ", …" : "";
  queries.resize(std::min(queries.size(), shown));
  return fmt::format(
      "The scores of {:query|queries} {}{} sum to 0. Nothing can be divided by 0, so the weights are set to 0. "
      "The sum of exponentials in a softmax is never 0.",
      Count{queries.size()}, fmt::join(queries, ", "), more);
}

// Where dividing scores by their sum fails.  (Zhang et al., Dive into Deep Learning, 11.1)
std::vector<std::string> remarks_on_sums(const Node& scores) {
  std::vector<std::string> remarks;
  if (std::ranges::any_of(cells(scores.matrix()), [](double score) { return score < 0.0; })) {
    remarks.emplace_back(
        "Some scores are negative. "
        "Dividing by the sum can then give negative weights or weights above 1, or reverse the order: if all scores of a row are negative, the lowest gets the largest weight. "
        "Softmax first takes the exponential, which is positive and keeps the order.");
  }
  if (std::string zero = zero_sums(scores); !zero.empty()) remarks.push_back(std::move(zero));
  return remarks;
}

constexpr std::array pooling_table = {
    Pooling{"average", "average", "every key has the same weight", uniform},
    Pooling{"look-up", "lookup", "the key with the largest score has weight 1 (of several, the first)", largest},
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

// --- saturation

// Of softmax(scores / divisor), a row for each query.
double mean_derivative_size(const Matrix& scores, double divisor) {
  Graph graph;
  const Value given = graph.input(role::scores, scores, axis("queries"), axis("keys"));
  const Matrix weights = softmax(divide(given, {divisor, {}})).matrix();
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.shape().rows; ++i) sum += derivative_size(row(weights, i));
  return sum / static_cast<double>(weights.shape().rows);
}

}  // namespace

// --- pooling

bool is_one(double sum) { return close(sum, 1.0); }

std::span<const Pooling> poolings() { return pooling_table; }

std::span<const Regime> regimes() { return regime_table; }

const Regime& regime_of(std::span<const double> weights) {
  return *std::ranges::find_if(regime_table, [&](const Regime& regime) { return regime.holds(weights); });
}

// --- saturation

double derivative_size(std::span<const double> weights) {
  std::vector<double> squared;
  for (const double weight : weights) squared.push_back(weight * weight);
  const std::vector<double> others = sums_of_others(weights);
  const std::vector<double> other_squares = sums_of_others(squared);
  // The diagonal has w_i (1 − w_i), and row i beside it has −w_i w_j: no term is a difference.
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += squared[i] * (others[i] * others[i] + other_squares[i]);
  }
  return std::sqrt(sum);
}

RandomScores random_scores(std::size_t d_k, std::uint32_t seed) {
  constexpr std::size_t count = 64;
  RandomSource random(random_kind::by_name, seed);
  const Matrix q = random.vectors({role::q.leaf, {count, d_k}}), k = random.vectors({role::k.leaf, {count, d_k}});
  Matrix scores({count, count});
  product_transposed(rows_of(q), rows_of(k), rows_to_make(scores));
  const std::span<const double> values = cells(scores);
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto d = static_cast<double>(d_k);
  return {squares / n, squares / n / d, mean_derivative_size(scores, 1.0), mean_derivative_size(scores, std::sqrt(d))};
}

}  // namespace attn
