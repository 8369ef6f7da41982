#pragma once

#include <cstdint>
#include <span>

#include "math/matrix.hpp"

namespace attn {

// How far weights have gone from an average of all keys to a single one.

/// −Σ w log₂ w, in bits: 0 for a single key, log₂ n for n equal weights.
double entropy(std::span<const double> weights);

/// The size of the softmax's derivative, ‖diag(w) − w wᵀ‖ (Frobenius): near 0 nothing can be learned through
/// it.  (Vaswani et al. 2017, section 3.2.1)
double derivative_size(std::span<const double> weights);

/// Scores of random queries and keys whose numbers have mean 0 and variance 1.
struct RandomScores {
  double variance;         // of q · k
  double scaled_variance;  // of q · k / √d_k
  // The size of the softmax's derivative by the scores, a mean over the queries.
  double derivative;
  double scaled_derivative;
};

/// [64, d_k] [64, d_k]: 4096 scores.  The same for the same seed.
RandomScores random_scores(std::size_t d_k, std::uint32_t seed);

}  // namespace attn
