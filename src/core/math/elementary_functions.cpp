#include "core/math/elementary_functions.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>

#include "core/math/machine.hpp"

namespace attn::elementary {

namespace {

// --- double double
// Numbers as sums of two doubles, with about 106 bits.  (Dekker 1971, A Floating-Point Technique for
// Extending the Available Precision)

struct DoubleDouble {
  double high = 0.0, low = 0.0;
};

// The exact sum of two doubles, and of two of which the first is the larger one.
inline DoubleDouble exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
inline DoubleDouble exact_sum_of_sorted(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// The exact product.
inline DoubleDouble exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const DoubleDouble sum = exact_sum_of_sorted(high.high, high.low + low.high);
  return exact_sum_of_sorted(sum.high, sum.low + low.low);
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

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

// --- elementary

namespace of_one {

[[gnu::always_inline]] inline double exp(double x) { return inlined::exponential(x); }

// From (exp(2x) − 1) / (exp(2x) + 1), where the numerator keeps its digits near 0. Beyond `most` it is 1.
[[gnu::always_inline]] inline double tanh(double x) {
  constexpr double most = 20.0;
  const double size = std::fabs(x), within = most < size ? most : size;
  const inlined::PartsOfExponent parts = inlined::parts_of_exponent(2.0 * within);
  const double power = inlined::power_of_two(inlined::low_bits(parts.shifted));
  const double less_one = power * inlined::exponential_less_one(parts.rest) + (power - 1.0);
  return std::copysign(less_one / (less_one + 2.0), x);
}

[[gnu::always_inline]] inline double logistic(double x) { return 1.0 / (1.0 + inlined::exponential(-x)); }

// erf(x) = 2/√π Σ (−1)^n x^(2n+1) / (n! (2n+1)) for 0 ≤ x ≤ 1, whose remainder is below 2^-57.
[[gnu::always_inline]] inline double error_near_zero(double x) {
  constexpr double c = 2.0 * std::numbers::inv_sqrtpi;
  const double z = x * x, z2 = z * z, z4 = z2 * z2;
  // 2/√π is 1 and a rest, and what is multiplied by x is this rest and all that follows.
  const double p0 = (c - 1.0 - c / 3.0 * z) + z2 * (c / 10.0 - c / 42.0 * z);
  const double p4 = (c / 216.0 - c / 1320.0 * z) + z2 * (c / 9360.0 - c / 75600.0 * z);
  const double p8 = (c / 685440.0 - c / 6894720.0 * z) + z2 * (c / 76204800.0 - c / 918086400.0 * z);
  const double p12 =
      (c / 11975040000.0 - c / 168129561600.0 * z) + z2 * (c / 2528170444800.0 - c / 40537905408000.0 * z);
  const double p16 = c / 690452066304000.0 - c / 12449059983360000.0 * z;
  return x + x * (p0 + z4 * (p4 + z4 * (p8 + z4 * (p12 + z4 * p16))));
}

// erfc(x) = exp(−x²) P((x − 11/4) / (x + 11/4)) for 1 ≤ x ≤ 6, where P is the polynomial of degree 13 that
// interpolates exp(x²) erfc(x) at Chebyshev's nodes: erfc is within 3e-17.
[[gnu::always_inline]] inline double error_complement(double x) {
  const double u = (x - 2.75) / (x + 2.75), u2 = u * u, u4 = u2 * u2;
  const double p0 =
      (0.19366209627906866 - 0.34780700658349906 * u) + u2 * (0.24989043128301464 - 0.13973759846210618 * u);
  const double p4 =
      (0.056833803087015335 - 0.013682984967590062 * u) + u2 * (-0.00019182608720074644 + 0.0013448719517396201 * u);
  const double p8 =
      (-0.0002300193577058915 - 0.00013220529738747607 * u) + u2 * (4.081291353292999e-05 + 1.7570368997645346e-05 * u);
  const double p12 = -5.7269669477524135e-06 - 3.109066605852362e-06 * u;
  return inlined::exponential(-x * x) * (p0 + u4 * (p4 + u4 * (p8 + u4 * p12)));
}

[[gnu::always_inline]] inline double erf(double x) {
  constexpr double most = 6.0;  // beyond, it is 1
  const double size = std::fabs(x);
  const double near_zero = error_near_zero(size < 1.0 ? size : 1.0);
  const double within = size < 1.0 ? 1.0 : most < size ? most : size;
  const double result = size < 1.0 ? near_zero : 1.0 - error_complement(within);
  return x != x ? x : std::copysign(result, x);
}

constexpr double half_sqrt2 = std::numbers::sqrt2 / 2.0;
constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double cubic = 0.044715;

[[gnu::always_inline]] inline double relu(double x) { return x < 0.0 ? 0.0 : x; }
[[gnu::always_inline]] inline double gelu(double x) { return 0.5 * x * (1.0 + erf(x * half_sqrt2)); }
[[gnu::always_inline]] inline double bent(double x) { return tanh(sqrt_2_over_pi * (x + cubic * x * x * x)); }
[[gnu::always_inline]] inline double gelu_by_tanh(double x) { return 0.5 * x * (1.0 + bent(x)); }
[[gnu::always_inline]] inline double silu(double x) { return x * logistic(x); }

[[gnu::always_inline]] inline double slope_of_tanh(double y) { return 1.0 - y * y; }
[[gnu::always_inline]] inline double slope_of_logistic(double y) { return y * (1.0 - y); }
// NaN stays NaN.
[[gnu::always_inline]] inline double slope_of_relu(double y) { return y > 0.0 ? 1.0 : y * 0.0; }
// Φ(x) + x φ(x), of the standard normal distribution and its density.
[[gnu::always_inline]] inline double slope_of_gelu(double x) {
  constexpr double density_at_0 = std::numbers::inv_sqrtpi * half_sqrt2;
  return 0.5 * (1.0 + erf(x * half_sqrt2)) + x * (inlined::exponential(-0.5 * x * x) * density_at_0);
}
[[gnu::always_inline]] inline double slope_of_gelu_by_tanh(double x) {
  const double y = bent(x);
  return 0.5 * (1.0 + y) + 0.5 * x * (1.0 - y * y) * (sqrt_2_over_pi * (1.0 + 3.0 * cubic * x * x));
}
[[gnu::always_inline]] inline double slope_of_silu(double x) {
  const double y = logistic(x);
  return y * (1.0 + x * (1.0 - y));
}

}  // namespace of_one

// --- logarithm and waves
// Functions that are called for one number at a time. std::fma, frexp and ldexp round nothing, or once: they
// give the same everywhere.

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
  for (const double factorial : {20922789888000.0, -87178291200.0, 479001600.0, -3628800.0, 40320.0, -720.0, 24.0}) {
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

// --- elementary

// One function for each name above: of one number, and x ← f(x) or d ← d · f′ for many.
#define ATTN_FUNCTION(name)                                            \
  namespace {                                                          \
  ATTN_FOR_EACH_PROCESSOR void name##_each(double* x, std::size_t n) { \
    for (std::size_t j = 0; j < n; ++j) x[j] = of_one::name(x[j]);     \
  }                                                                    \
  }                                                                    \
  double name(double x) { return of_one::name(x); }                    \
  void name(std::span<double> x) { name##_each(x.data(), x.size()); }

#define ATTN_SLOPE(name)                                                               \
  namespace {                                                                          \
  ATTN_FOR_EACH_PROCESSOR void by_##name(double* d, const double* of, std::size_t n) { \
    for (std::size_t j = 0; j < n; ++j) d[j] *= of_one::name(of[j]);                   \
  }                                                                                    \
  }                                                                                    \
  double name(double of) { return of_one::name(of); }                                  \
  void multiply_by_##name(std::span<double> d, std::span<const double> of) { by_##name(d.data(), of.data(), d.size()); }

ATTN_FUNCTION(exp)
ATTN_FUNCTION(tanh)
ATTN_FUNCTION(logistic)
ATTN_FUNCTION(erf)
ATTN_FUNCTION(relu)
ATTN_FUNCTION(gelu)
ATTN_FUNCTION(gelu_by_tanh)
ATTN_FUNCTION(silu)

ATTN_SLOPE(slope_of_tanh)
ATTN_SLOPE(slope_of_logistic)
ATTN_SLOPE(slope_of_relu)
ATTN_SLOPE(slope_of_gelu)
ATTN_SLOPE(slope_of_gelu_by_tanh)
ATTN_SLOPE(slope_of_silu)

#undef ATTN_FUNCTION
#undef ATTN_SLOPE

// --- logarithm and waves

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
  if (!(std::fabs(product.high) < 800.0)) return product.high > 0.0 ? infinity : product.high < 0.0 ? 0.0 : nan;
  return exp_of(product);
}

double sin(double x) {
  if (!(std::fabs(x) <= farthest)) return std::sin(x);
  return x == 0.0 ? x : wave(x, true);
}

double cos(double x) { return std::fabs(x) <= farthest ? wave(x, false) : std::cos(x); }

}  // namespace attn::elementary
