#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace attn::elementary {

/// Functions of one number, with the same bits on every processor and with every C library, and kernels that
/// take all cells of a row or a matrix through them. Errors are those of tests/elementary_test.cpp, in units
/// in the last place.

double exp(double x);       // 1
double tanh(double x);      // 2.6
double logistic(double x);  // 1 / (1 + exp(−x)): 2.3
double erf(double x);       // 1.5
double log(double x);       // 1
/// 0.8 up to 2^30; further out they are those of the C library.
double sin(double x);
double cos(double x);
/// base^exponent for a base above 0: 0.51.
double power(double base, double exponent);

// x Φ(x), 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) and x / (1 + exp(−x)).
double gelu(double x);
double gelu_by_tanh(double x);
double silu(double x);
double relu(double x);  // max(x, 0), and NaN where x is

// x ← f(x), cell by cell.
void exp(std::span<double> x);
void tanh(std::span<double> x);
void logistic(std::span<double> x);
void erf(std::span<double> x);
void relu(std::span<double> x);
void gelu(std::span<double> x);
void gelu_by_tanh(std::span<double> x);
void silu(std::span<double> x);

// d ← d · f′, cell by cell: from y = f(x) of tanh, the logistic function and relu, whose slope at 0 is 0;
// from x of the others. Both have the same size.
void multiply_by_slope_of_tanh(std::span<double> d, std::span<const double> y);
void multiply_by_slope_of_logistic(std::span<double> d, std::span<const double> y);
void multiply_by_slope_of_relu(std::span<double> d, std::span<const double> y);
void multiply_by_slope_of_gelu(std::span<double> d, std::span<const double> x);
void multiply_by_slope_of_gelu_by_tanh(std::span<double> d, std::span<const double> x);
void multiply_by_slope_of_silu(std::span<double> d, std::span<const double> x);
// The slopes alone.
double slope_of_tanh(double y);
double slope_of_logistic(double y);
double slope_of_relu(double y);
double slope_of_gelu(double x);
double slope_of_gelu_by_tanh(double x);
double slope_of_silu(double x);

}  // namespace attn::elementary

namespace attn::inlined {

// Inlined into the kernels that are compiled for each set of instructions (core/math/machine.hpp): a call
// would be compiled for the oldest processor.

/// x = n · ln 2 + rest with n the nearest integer; in the low bits of `shifted` stands n as well.
struct PartsOfExponent {
  double n, rest, shifted;
};

[[gnu::always_inline]] inline PartsOfExponent parts_of_exponent(double x) {
  constexpr double log2_e = 1.4426950408889634;
  // ln 2 is split in two so that n · ln 2 is exact (Cody and Waite 1980).
  constexpr double ln2_high = 6.93145751953125e-1;
  constexpr double ln2_low = 1.42860682030941723212e-6;
  constexpr double round = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double shifted = x * log2_e + round;
  const double n = shifted - round;
  return {n, (x - n * ln2_high) - n * ln2_low, shifted};
}

/// exp(r) − 1 for |r| ≤ ½ ln 2: its Taylor polynomial, whose remainder is below 2^-57.
[[gnu::always_inline]] inline double exponential_less_one(double r) {
  // Terms in pairs, and pairs of pairs (Estrin's scheme): one after the other they would wait for each other.
  const double r2 = r * r, r4 = r2 * r2;
  const double p0 = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
  const double p4 = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0));
  const double p8 = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0));
  return r + r2 * (p0 + r4 * (p4 + r4 * p8));
}

/// 2^n, where n stands in the low bits and −1022 ≤ n ≤ 1023.
[[gnu::always_inline]] inline double power_of_two(std::uint64_t n) {
  constexpr std::uint64_t bias = 1023;
  const std::uint64_t bits = (n + bias) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

[[gnu::always_inline]] inline std::uint64_t low_bits(double shifted) {
  std::uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  return bits;
}

/// exp(x) within 1 ulp: 0 and denormal results, ∞ and NaN too.
[[gnu::always_inline]] inline double exponential(double x) {
  constexpr double lowest = -746.0, highest = 710.0;  // 0, and ∞
  const double above = lowest > x ? lowest : x;
  const PartsOfExponent parts = parts_of_exponent(highest < above ? highest : above);
  // 2^n in two steps: neither is too large or too small, and a denormal result is rounded once.
  const std::uint64_t n = low_bits(parts.shifted), half = n >> 1;
  return (1.0 + exponential_less_one(parts.rest)) * power_of_two(half) * power_of_two(n - half);
}

}  // namespace attn::inlined
