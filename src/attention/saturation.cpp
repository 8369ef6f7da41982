#include "attention/saturation.hpp"

#include <cmath>
#include <numeric>

#include "math/product.hpp"
#include "math/random.hpp"

namespace attn {

double entropy(std::span<const double> weights) {
  double sum = 0.0;
  for (const double weight : weights) {
    if (weight > 0.0) sum -= weight * std::log2(weight);
  }
  return sum;
}

double derivative_size(std::span<const double> weights) {
  double squares = 0.0, cubes = 0.0;
  for (const double weight : weights) {
    squares += weight * weight;
    cubes += weight * weight * weight;
  }
  // Σ_ij (w_i δ_ij − w_i w_j)² = Σ w² − 2 Σ w³ + (Σ w²)².
  return std::sqrt(std::fmax(0.0, squares - 2.0 * cubes + squares * squares));
}

RandomScores random_scores(std::size_t d_k, std::uint32_t seed) {
  constexpr std::size_t count = 64;
  const std::unique_ptr<RandomSource> random = random_kinds().front().make(seed);
  const Matrix q = random->embeddings({count, d_k}), k = random->embeddings({count, d_k});
  const Matrix scores = product_transposed(q, k);
  const std::span<const double> values = cells(scores);
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {squares / n, squares / n / static_cast<double>(d_k)};
}

}  // namespace attn
