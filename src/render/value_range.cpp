#include "render/value_range.hpp"

#include <algorithm>
#include <cmath>

namespace attn {

bool ValueRange::holds(double value) const {
  return std::isfinite(value) && (spacing_ == Spacing::even || value > 0.0);
}

void ValueRange::include(double value) {
  if (!holds(value)) return;
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
}

// Halves, because the distance between two doubles may be beyond double precision.
double ValueRange::share(double value) const {
  const double from = place(least_) / 2.0, to = place(most_) / 2.0;
  return to > from ? std::clamp((place(value) / 2.0 - from) / (to - from), 0.0, 1.0) : 0.5;
}

double ValueRange::at(double share) const {
  const double value = (1.0 - share) * place(least_) + share * place(most_);
  if (spacing_ == Spacing::logarithmic) return std::pow(10.0, value);
  constexpr double nothing = 1e-4;
  const double largest = std::max(std::fabs(least_), std::fabs(most_));
  return std::fabs(value) < nothing * largest ? 0.0 : value;
}

double ValueRange::place(double value) const {
  return spacing_ == Spacing::even ? value : std::log10(value);
}

}  // namespace attn
