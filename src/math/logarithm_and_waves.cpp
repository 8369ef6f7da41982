#include <cmath>
#include <limits>
#include <numbers>

#include "math/double_double.hpp"
#include "math/elementary.hpp"

// Functions that are called for one number at a time. std::fma, frexp and ldexp round nothing, or once: they
// give the same everywhere.

namespace attn::elementary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ln 2 and π/2 in several doubles.
constexpr DoubleDouble ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr double half_pi[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// x = significand · 2^exponent, the significand from √½ to √2.
struct Parts {
  double significand;
  int exponent;
};
Parts parts_of(double x) {
  int exponent = 0;
  double significand = std::frexp(x, &exponent);
  if (significand < std::numbers::sqrt2 / 2.0) significand *= 2.0, --exponent;
  return {significand, exponent};
}

// log(m) = 2 Σ s^(2n+1) / (2n+1) with s = (m − 1) / (m + 1), and |s| < 0.1716. With twenty terms the
// remainder is below 2^-100.
DoubleDouble log_in_full(double x) {
  const auto [significand, exponent] = parts_of(x);
  const DoubleDouble s = DoubleDouble{significand - 1.0} / exact_sum(significand, 1.0), square = s * s;
  DoubleDouble sum;
  for (int n = 19; n >= 0; --n) sum = sum * square + DoubleDouble{1.0} / DoubleDouble{2.0 * n + 1.0};
  return DoubleDouble{2.0} * s * sum + DoubleDouble{static_cast<double>(exponent)} * ln2;
}

// Its Taylor polynomial, after whole powers of 2: |rest| ≤ ½ ln 2, and the remainder is below 2^-100.
double exp_of(DoubleDouble x) {
  const double n = std::nearbyint(x.high / ln2.high);
  const DoubleDouble rest = x + -(DoubleDouble{n} * ln2);
  DoubleDouble sum{1.0};
  for (int k = 22; k >= 1; --k) {
    sum = sum * rest / DoubleDouble{static_cast<double>(k)} + DoubleDouble{1.0};
  }
  return std::ldexp(sum.high, static_cast<int>(n));
}

// x = quarter · π/2 + rest, with |rest| ≤ π/4.
struct Turned {
  DoubleDouble rest;
  long long quarter;
};
Turned turned_back(double x) {
  const double quarter = std::nearbyint(x * (2.0 / std::numbers::pi));
  // The first difference is exact: both are whole multiples of 2^-53 or of the last place of x.
  const double near = std::fma(-quarter, half_pi[0], x);
  const DoubleDouble rest =
      DoubleDouble{near} + -exact_product(quarter, half_pi[1]) + DoubleDouble{-quarter * half_pi[2]};
  return {rest, static_cast<long long>(quarter)};
}

// Their Taylor polynomials, whose remainders are below 2^-57. What comes last is added last.
double sin_of(DoubleDouble x) {
  const double r = x.high, z = r * r;
  double sum = 1.0 / 355687428096000.0;
  for (const double factorial : {-1307674368000.0, 6227020800.0, -39916800.0, 362880.0, -5040.0, 120.0}) {
    sum = sum * z + 1.0 / factorial;
  }
  return r + (r * z * (sum * z - 1.0 / 6.0) + x.low * (1.0 - z / 2.0));
}
double cos_of(DoubleDouble x) {
  const double r = x.high, z = r * r;
  double sum = -1.0 / 6402373705728000.0;
  for (const double factorial :
       {20922789888000.0, -87178291200.0, 479001600.0, -3628800.0, 40320.0, -720.0, 24.0}) {
    sum = sum * z + 1.0 / factorial;
  }
  const double half = z / 2.0, most = 1.0 - half;
  return most + (((1.0 - most) - half) + (z * z * sum - r * x.low));
}

constexpr double farthest = 1 << 30;

double wave(double x, bool is_sine) {
  const auto [rest, quarters] = turned_back(x);
  const auto quarter = (quarters + (is_sine ? 0 : 1)) & 3;
  const double value = quarter % 2 == 0 ? sin_of(rest) : cos_of(rest);
  return quarter < 2 ? value : -value;
}

}  // namespace

double log(double x) {
  if (std::isnan(x) || x == infinity) return x;
  if (x <= 0.0) return x == 0.0 ? -infinity : nan;
  const auto [significand, exponent] = parts_of(x);
  const double f = significand - 1.0, s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
  double sum = 2.0 / 21.0;
  for (const double odd : {19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) sum = sum * z + 2.0 / odd;
  // 2s is f − s f, which makes f the first term, exactly; ln 2 is split so that its multiples are exact.
  constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  const auto n = static_cast<double>(exponent);
  return n * ln2_high - ((half_square - (s * (half_square + z * sum) + n * ln2_low)) - f);
}

double power(double base, double exponent) {
  const DoubleDouble product = log_in_full(base) * DoubleDouble{exponent};
  if (!(std::fabs(product.high) < 800.0))
    return product.high > 0.0 ? infinity : product.high < 0.0 ? 0.0 : nan;
  return exp_of(product);
}

double sin(double x) {
  if (!(std::fabs(x) <= farthest)) return std::sin(x);
  return x == 0.0 ? x : wave(x, true);
}

double cos(double x) {
  return std::fabs(x) <= farthest ? wave(x, false) : std::cos(x);
}

}  // namespace attn::elementary
