#include "math/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// A distribution's compiler flags stay those of the oldest processor; the loops below are worth four times as
// much on newer ones.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ATTN_FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ATTN_FOR_EACH_PROCESSOR
#endif

namespace attn {
namespace {

constexpr std::size_t lanes = 8;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// exp(x) = 2^n · exp(r) with n the integer nearest to x / ln 2 and |r| ≤ ½ ln 2; ln 2 is split in two so that
// n · ln 2 is exact (Cody and Waite 1980), and exp(r) is its Taylor polynomial, whose remainder is below
// 2^-57. Inlined into each clone: a call would be compiled for the oldest processor.
[[gnu::always_inline]] inline double exponential(double x) {
  constexpr double lowest = -708.0;
  constexpr double log2_e = 1.4426950408889634;
  constexpr double ln2_high = 6.93145751953125e-1;
  constexpr double ln2_low = 1.42860682030941723212e-6;
  constexpr double round = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double shifted = x * log2_e + round;
  const double n = shifted - round;
  const double r = (x - n * ln2_high) - n * ln2_low;
  double p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  double result = 1.0 + (r + r * r * p);
  std::uint64_t exponent;
  std::uint64_t bits;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&bits, &result, sizeof bits);
  bits += exponent << 52;
  std::memcpy(&result, &bits, sizeof result);
  return x < lowest ? 0.0 : result;
}

ATTN_FOR_EACH_PROCESSOR double largest(const double* x, std::size_t n) {
  double lane[lanes];
  for (double& value : lane) value = minus_infinity;
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
  }
  for (; j < n; ++j) lane[j % lanes] = x[j] > lane[j % lanes] ? x[j] : lane[j % lanes];
  double result = minus_infinity;
  for (double value : lane) result = value > result ? value : result;
  return result;
}

ATTN_FOR_EACH_PROCESSOR double sum(const double* x, std::size_t n) {
  double lane[lanes] = {};
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) lane[l] += x[j + l];
  }
  for (; j < n; ++j) lane[j % lanes] += x[j];
  double result = 0.0;
  for (double value : lane) result += value;
  return result;
}

ATTN_FOR_EACH_PROCESSOR void exponentiate_less(double* x, std::size_t n, double subtrahend) {
  for (std::size_t j = 0; j < n; ++j) x[j] = exponential(x[j] - subtrahend);
}

ATTN_FOR_EACH_PROCESSOR void divide_by(double* x, std::size_t n, double divisor) {
  for (std::size_t j = 0; j < n; ++j) x[j] /= divisor;
}

ATTN_FOR_EACH_PROCESSOR void add_to(double* x, const double* y, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) x[j] += y[j];
}

ATTN_FOR_EACH_PROCESSOR void subtract_from(double* x, const double* y, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) x[j] -= y[j];
}

ATTN_FOR_EACH_PROCESSOR void multiply_by(double* x, const double* y, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) x[j] *= y[j];
}

ATTN_FOR_EACH_PROCESSOR void add_squares(double* sums, double x, const double* others, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) sums[j] += (x - others[j]) * (x - others[j]);
}

// In whole numbers, which may be added in any order.
ATTN_FOR_EACH_PROCESSOR std::uint64_t count_not_below(const double* x, std::size_t n, double limit) {
  std::uint64_t count = 0;
  for (std::size_t j = 0; j < n; ++j) count += x[j] < limit ? 0 : 1;
  return count;
}

ATTN_FOR_EACH_PROCESSOR std::uint64_t count_not_smaller(const double* x, std::size_t n, double limit) {
  std::uint64_t count = 0;
  for (std::size_t j = 0; j < n; ++j) count += std::fabs(x[j]) < limit ? 0 : 1;
  return count;
}

}  // namespace

bool is_finite(std::span<const double> numbers) {
  return count_not_smaller(numbers.data(), numbers.size(), -minus_infinity) == 0;
}

bool is_below_infinity(std::span<const double> numbers) {
  return count_not_below(numbers.data(), numbers.size(), -minus_infinity) == 0;
}

void exponentiate(std::span<double> cells) {
  exponentiate_less(cells.data(), cells.size(), 0.0);
}

void softmax_row(std::span<double> row) {
  const double maximum = largest(row.data(), row.size());
  // NaN is larger than nothing: a row that holds it need not be one that may look at nothing.
  const auto is_masked = [](double value) { return value == minus_infinity; };
  if (maximum == minus_infinity && std::ranges::all_of(row, is_masked)) {
    std::ranges::fill(row, 0.0);
    return;
  }
  exponentiate_less(row.data(), row.size(), maximum);
  divide_by(row.data(), row.size(), sum(row.data(), row.size()));
}

void divide(std::span<double> cells, double divisor) {
  divide_by(cells.data(), cells.size(), divisor);
}

void add(std::span<double> cells, std::span<const double> other) {
  add_to(cells.data(), other.data(), cells.size());
}

void subtract(std::span<double> cells, std::span<const double> other) {
  subtract_from(cells.data(), other.data(), cells.size());
}

void multiply(std::span<double> cells, std::span<const double> other) {
  multiply_by(cells.data(), other.data(), cells.size());
}

void add_squared_differences(std::span<double> sums, double x, std::span<const double> others) {
  add_squares(sums.data(), x, others.data(), sums.size());
}

double sum_of(std::span<const double> numbers) {
  double sum = 0.0, sizes = 0.0;
  for (const double number : numbers) {
    sum += number;
    sizes += std::fabs(number);
  }
  const double rounding =
      static_cast<double>(numbers.size()) * std::numeric_limits<double>::epsilon() * sizes;
  return std::isfinite(sizes) && std::fabs(sum) <= rounding ? 0.0 : sum;
}

}  // namespace attn
