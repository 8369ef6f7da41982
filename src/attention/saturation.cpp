#include "attention/saturation.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "math/product.hpp"
#include "math/random.hpp"
#include "op/operations.hpp"

namespace attn {
namespace {

// For each of some numbers the sum of the others. Of weights that sum to one it is 1 − w, without the
// subtraction that would cancel.
std::vector<double> sums_of_others(const std::vector<double>& numbers) {
  std::vector<double> sums(numbers.size());
  double before = 0.0, after = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sums[i] += before;
    before += numbers[i];
  }
  for (std::size_t i = numbers.size(); i-- > 0;) {
    sums[i] += after;
    after += numbers[i];
  }
  return sums;
}

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

double entropy(std::span<const double> weights) {
  const std::vector<double> others = sums_of_others({weights.begin(), weights.end()});
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i];
    // Near 1 the logarithm hangs on 1 − w, which the other weights know to all digits.
    if (weight > 0.5) sum -= weight * std::log1p(-others[i]) / std::numbers::ln2;
    if (weight > 0.0 && weight <= 0.5) sum -= weight * std::log2(weight);
  }
  return sum;
}

double derivative_size(std::span<const double> weights) {
  std::vector<double> squared;
  for (const double weight : weights) squared.push_back(weight * weight);
  const std::vector<double> others = sums_of_others({weights.begin(), weights.end()});
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
  const std::unique_ptr<RandomSource> random = random_kinds().front().make(seed);
  const Matrix q = random->embeddings({count, d_k}), k = random->embeddings({count, d_k});
  Matrix scores({count, count});
  product_transposed(rows_of(q), rows_of(k), rows_to_make(scores));
  const std::span<const double> values = cells(scores);
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto d = static_cast<double>(d_k);
  return {squares / n, squares / n / d, mean_derivative_size(scores, 1.0),
          mean_derivative_size(scores, std::sqrt(d))};
}

}  // namespace attn
