#include "math/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// A distribution's compiler flags stay those of the oldest processor; the loops below are worth four times as
// much on newer ones.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ATTN_WIDEST "avx512f"
#define ATTN_WIDE "avx2"
#define ATTN_FOR_EACH_PROCESSOR __attribute__((target_clones(ATTN_WIDEST, ATTN_WIDE, "default")))
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
  constexpr double lowest_normal = -708.0, lowest = -745.2;  // below, the result is denormal, and 0
  constexpr std::uint64_t out_of_the_way = 64;
  constexpr double log2_e = 1.4426950408889634;
  constexpr double ln2_high = 6.93145751953125e-1;
  constexpr double ln2_low = 1.42860682030941723212e-6;
  constexpr double round = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double shifted = x * log2_e + round;
  const double n = shifted - round;
  const double r = (x - n * ln2_high) - n * ln2_low;
  // Terms in pairs, and pairs of pairs (Estrin's scheme): one after the other they would wait for each other.
  const double r2 = r * r, r4 = r2 * r2;
  const double p0 = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
  const double p4 = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0));
  const double p8 =
      (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0));
  double result = 1.0 + (r + r2 * (p0 + r4 * (p4 + r4 * p8)));
  std::uint64_t exponent;
  std::uint64_t bits;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&bits, &result, sizeof bits);
  // A denormal number is rounded once, when it is scaled back.
  const bool is_tiny = x < lowest_normal;
  bits += (exponent + (is_tiny ? out_of_the_way : 0)) << 52;
  std::memcpy(&result, &bits, sizeof result);
  result *= is_tiny ? 0x1p-64 : 1.0;
  return x < lowest ? 0.0 : result;
}

// Of the largest it is all the same in how many lanes it is sought: four times as many, which wait less for
// each other.
ATTN_FOR_EACH_PROCESSOR double largest(const double* x, std::size_t n) {
  constexpr std::size_t many = 4 * lanes;
  double lane[many];
  for (double& value : lane) value = minus_infinity;
  std::size_t j = 0;
  for (; j + many <= n; j += many) {
    for (std::size_t l = 0; l < many; ++l) lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
  }
  for (; j < n; ++j) lane[j % many] = x[j] > lane[j % many] ? x[j] : lane[j % many];
  double result = minus_infinity;
  for (double value : lane) result = value > result ? value : result;
  return result;
}

// x_j <- exp(x_j - subtrahend). Returns their sum: of each block, and then of the blocks, so that the
// rounding of a long row grows with the number of its blocks (Higham, Accuracy and Stability of Numerical
// Algorithms, 4.2).
ATTN_FOR_EACH_PROCESSOR double exponentiate_less(double* x, std::size_t n, double subtrahend) {
  constexpr std::size_t block = 128 * lanes;
  double total[lanes] = {};
  std::size_t j = 0;
  while (j + lanes <= n) {
    const std::size_t end = n - j < block ? n - lanes + 1 : j + block;
    double lane[lanes] = {};
    for (; j < end; j += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) {
        x[j + l] = exponential(x[j + l] - subtrahend);
        lane[l] += x[j + l];
      }
    }
    for (std::size_t l = 0; l < lanes; ++l) total[l] += lane[l];
  }
  for (; j < n; ++j) {
    x[j] = exponential(x[j] - subtrahend);
    total[j % lanes] += x[j];
  }
  double result = 0.0;
  for (double value : total) result += value;
  return result;
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

std::string_view vector_instructions() {
#ifdef ATTN_WIDEST
  if (__builtin_cpu_supports(ATTN_WIDEST)) return ATTN_WIDEST;
  if (__builtin_cpu_supports(ATTN_WIDE)) return ATTN_WIDE;
#endif
  return "those of every processor";
}

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
  const double sum = exponentiate_less(row.data(), row.size(), maximum);
  divide_by(row.data(), row.size(), sum);
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
