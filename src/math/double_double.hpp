#pragma once

#include <cmath>

// Numbers as sums of two doubles, with about 106 bits.  (Dekker 1971, A Floating-Point Technique for
// Extending the Available Precision)

namespace attn {

struct DoubleDouble {
  double high = 0.0, low = 0.0;
};

/// The exact sum of two doubles, and of two of which the first is the larger one.
inline DoubleDouble exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
inline DoubleDouble exact_sum_of_sorted(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// The exact product.
inline DoubleDouble exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const DoubleDouble sum = exact_sum_of_sorted(high.high, high.low + low.high);
  return exact_sum_of_sorted(sum.high, sum.low + low.low);
}

inline DoubleDouble operator-(DoubleDouble a) {
  return {-a.high, -a.low};
}

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = exact_product(a.high, b.high);
  return exact_sum_of_sorted(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.high / b.high;
  const DoubleDouble rest = a + -(b * DoubleDouble{first});
  const double second = rest.high / b.high;
  const DoubleDouble rest_of_rest = rest + -(b * DoubleDouble{second});
  return DoubleDouble{first} + exact_sum_of_sorted(second, rest_of_rest.high / b.high);
}

}  // namespace attn
