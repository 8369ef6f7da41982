#pragma once

#include <cstdint>
#include <cstring>

// Inlined into the kernels that are compiled for each set of instructions (math/instructions.hpp): a call
// would be compiled for the oldest processor.

namespace attn::inlined {

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
  const double p8 =
      (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0));
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
