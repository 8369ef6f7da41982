#include "math/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "math/exponential.hpp"
#include "math/instructions.hpp"

namespace attn {
namespace {

constexpr std::size_t lanes = 8;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Of the largest it is all the same in how many lanes it is sought: four times as many in a long row, which
// wait less for each other.
[[gnu::always_inline]] inline double largest_in_lanes(const double* x, std::size_t n) {
  constexpr std::size_t many = 4 * lanes;
  double lane[many];
  for (double& value : lane) value = minus_infinity;
  std::size_t j = 0;
  for (; j + many <= n; j += many) {
    for (std::size_t l = 0; l < many; ++l) lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
  }
  for (; j + lanes <= n; j += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
  }
  for (std::size_t l = 0; j + l < n; ++l) lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
  for (std::size_t half = many / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l + half] > lane[l] ? lane[l + half] : lane[l];
  }
  return lane[0];
}

// x_j <- exp(x_j - subtrahend). Returns their sum: of each block, and then of the blocks, so that the
// rounding of a long row grows with the number of its blocks (Higham, Accuracy and Stability of Numerical
// Algorithms, 4.2).
[[gnu::always_inline]] inline double exponentiate_less(double* x, std::size_t n, double subtrahend) {
  constexpr std::size_t block = 128 * lanes;
  double total[lanes] = {};
  std::size_t j = 0;
  while (j + lanes <= n) {
    const std::size_t end = n - j < block ? n - lanes + 1 : j + block;
    double lane[lanes] = {};
    for (; j < end; j += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) {
        x[j + l] = inlined::exponential(x[j + l] - subtrahend);
        lane[l] += x[j + l];
      }
    }
    for (std::size_t l = 0; l < lanes; ++l) total[l] += lane[l];
  }
  for (; j < n; ++j) {
    x[j] = inlined::exponential(x[j] - subtrahend);
    total[j % lanes] += x[j];
  }
  double result = 0.0;
  for (double value : total) result += value;
  return result;
}

ATTN_FOR_EACH_PROCESSOR void divide_by(double* x, std::size_t n, double divisor) {
  for (std::size_t j = 0; j < n; ++j) x[j] /= divisor;
}

// NaN is larger than nothing: a row that holds it need not be one that may look at nothing.
[[gnu::noinline]] bool all_are_masked(const double* x, std::size_t n) {
  return std::all_of(x, x + n, [](double value) { return value == minus_infinity; });
}

ATTN_FOR_EACH_PROCESSOR void turn_into_weights(double* x, std::size_t n) {
  const double maximum = largest_in_lanes(x, n);
  if (maximum == minus_infinity && all_are_masked(x, n)) {
    std::fill_n(x, n, 0.0);
    return;
  }
  const double sum = exponentiate_less(x, n, maximum);
  for (std::size_t j = 0; j < n; ++j) x[j] /= sum;
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

void softmax_row(std::span<double> row) {
  turn_into_weights(row.data(), row.size());
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
