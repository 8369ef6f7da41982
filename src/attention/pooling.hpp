#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

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

}  // namespace attn
