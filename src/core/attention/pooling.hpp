#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/math/matrix.hpp"

namespace attn {

/// How scores become weights.
struct Pooling {
  std::string_view name;    // of the scope of its matrices
  std::string_view called;  // in a sentence
  std::string_view summary;
  Value (*weights)(const Value& scores);  // [n_q, n_k] -> [n_q, n_k]
  // What there is to say of it for these scores; null: nothing.
  std::vector<std::string> (*remarks)(const Node& scores) = nullptr;
};

/// average, look-up, sum, softmax.  (Zhang et al., Dive into Deep Learning, 11.1)
std::span<const Pooling> poolings();

/// What the weights of one query are, most special first: one-hot, uniform, convex (nonnegative with sum
/// one), cone (nonnegative), or none of these.  (Zhang et al., Dive into Deep Learning, 11.1)
struct Regime {
  std::string_view name;
  std::string_view summary;
  bool (*holds)(std::span<const double> weights);
};

std::span<const Regime> regimes();

/// Whether a sum of weights is one within rounding.
bool is_one(double sum);

/// The first regime that holds for a row of weights, within rounding.
const Regime& regime_of(std::span<const double> weights);

// How far weights have gone from an average of all keys to a single one.

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
