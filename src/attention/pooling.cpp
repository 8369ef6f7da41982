#include "attention/pooling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "graph/op/operations.hpp"

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
  return is_cone(weights) && close(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0);
}

bool is_uniform(std::span<const double> weights) {
  const double share = 1.0 / static_cast<double>(weights.size());
  return std::ranges::all_of(weights, [&](double weight) { return close(weight, share); });
}

// Exactly: a weight that is only nearly 1 looks at the other keys as well.
bool is_one_hot(std::span<const double> weights) {
  const auto ones = std::ranges::count(weights, 1.0), zeros = std::ranges::count(weights, 0.0);
  return ones == 1 && static_cast<std::size_t>(ones + zeros) == weights.size();
}

constexpr std::array pooling_table = {
    Pooling{"average", "every key counts the same", uniform},
    Pooling{"look-up", "only the key with the largest score counts", largest},
    Pooling{"sum", "scores divided by their sum", normalize},
    Pooling{"softmax", "exponentials of the scores divided by their sum", softmax},
};

constexpr std::array regime_table = {
    Regime{"one-hot", "exactly one weight is 1: the look-up of a database", is_one_hot},
    Regime{"uniform", "all weights are 1/m: average pooling", is_uniform},
    Regime{"convex", "no weight is negative, and their sum is 1: an average", is_convex},
    Regime{"cone", "no weight is negative", is_cone},
    Regime{"none", "a weight is negative: the output may lie anywhere",
           [](std::span<const double>) { return true; }},
};

}  // namespace

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
