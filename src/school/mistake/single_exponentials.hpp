#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace attn {

/// e to the power of a score in float32: infinite above 88.7, and 0 below about −104.
inline float single_exponential(double score) { return std::exp(static_cast<float>(score)); }

/// Whether the exponentials of a row are all 0 in float32, though not all scores are −∞: their sum divides 0 by 0.
inline bool all_vanish_in_single(std::span<const double> scores) {
  const auto vanishes = [](double score) { return single_exponential(score) == 0.0F; };
  const auto is_number = [](double score) { return std::isfinite(score); };
  return std::ranges::all_of(scores, vanishes) && std::ranges::any_of(scores, is_number);
}

}  // namespace attn
