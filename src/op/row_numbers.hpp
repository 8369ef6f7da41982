#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "graph/expression.hpp"
#include "math/row_gradients.hpp"
#include "support/error.hpp"

// What the operations on rows and their gradients have in common: distances from a mean, lengths, roots.

namespace attn {

/// What rounding has left of the distances from the mean, of which the mean is 0 in exact arithmetic: it is
/// nothing unless the numbers lie much closer together than to 0 (Chan, Golub and LeVeque 1983, Algorithms
/// for Computing the Sample Variance: the corrected two-pass algorithm).
inline double mean_distance(std::span<const double> x, double mean) {
  return sum_of_distances(x, mean) / static_cast<double>(x.size());
}

inline double sum_of_squares(std::span<const double> row) {
  return dot_product(row, row);
}

/// The power of two by which a row is divided so that the sum of its squares can be told in full: 2^0, but
/// where its numbers are very large or very small. A division by a power of two rounds nothing.
inline int exponent_of(std::span<const double> row) {
  if (std::isnormal(sum_of_squares(row))) return 0;
  double largest = 0.0;
  for (const double value : row) largest = std::max(largest, std::fabs(value));
  return largest == 0.0 || std::isinf(largest) ? 0 : std::ilogb(largest);
}

/// √(x + ε); ε is not written where it is 0.
inline Formula root_of(const Formula& x, double epsilon) {
  const std::string more = epsilon == 0.0 ? "" : fmt::format(" + {}", epsilon);
  return {fmt::format("√({}{})", x.plain, more), fmt::format("\\sqrt{{{}{}}}", x.latex, more)};
}

inline Expression root_of(Expression x, double epsilon) {
  return call(square_root, epsilon == 0.0 ? std::move(x) : sum({std::move(x), number(epsilon)}));
}

/// The root of a row, by which its numbers are divided.
inline double divisor_of(double square, double epsilon, std::size_t row) {
  const double root = std::sqrt(square + epsilon);
  if (root == 0.0) fail("row {} cannot be normalized: it would be divided by 0; give an ε above 0", row + 1);
  return root;
}

inline std::string reason_for(double epsilon) {
  return epsilon == 0.0 ? "" : fmt::format("{} avoids a division by 0", epsilon);
}

}  // namespace attn
