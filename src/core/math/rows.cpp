#include "core/math/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/math/elementary_functions.hpp"
#include "core/math/machine.hpp"

namespace attn {

namespace {

// --- rows

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

ATTN_FOR_EACH_PROCESSOR void round_each(double* x, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) x[j] = static_cast<double>(static_cast<float>(x[j]));
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

ATTN_FOR_EACH_PROCESSOR void multiply_cells(double* x, const double* y, std::size_t n) {
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

// --- adam

ATTN_FOR_EACH_PROCESSOR void step(double* __restrict p, double* __restrict m, double* __restrict v,
                                  const double* __restrict g, std::size_t n, const AdamNumbers& numbers) {
  const AdamNumbers by = numbers;
  for (std::size_t j = 0; j < n; ++j) {
    const double now = g[j] * by.factor;
    m[j] = by.beta_1 * m[j] + (1.0 - by.beta_1) * now;
    v[j] = by.beta_2 * v[j] + (1.0 - by.beta_2) * (now * now);
    p[j] -= by.rate * (m[j] * by.first_correction) / (std::sqrt(v[j] * by.second_correction) + by.epsilon);
  }
}

// --- row gradients

// The sum of term(0), term(1) … in eight lanes.
template <class Term>
[[gnu::always_inline]] inline double sum_in_lanes(std::size_t n, Term term) {
  double lane[lanes] = {};
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) lane[l] += term(j + l);
  }
  for (std::size_t l = 0; j + l < n; ++l) lane[l] += term(j + l);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

[[gnu::always_inline]] inline double dot_in_lanes(const double* x, const double* y, std::size_t n) {
  return sum_in_lanes(
      n, [=](std::size_t j) __attribute__((always_inline)) { return x[j] * y[j]; });
}
[[gnu::always_inline]] inline double total_in_lanes(const double* x, std::size_t n) {
  return sum_in_lanes(
      n, [=](std::size_t j) __attribute__((always_inline)) { return x[j]; });
}

ATTN_FOR_EACH_PROCESSOR double total(const double* x, std::size_t n) { return total_in_lanes(x, n); }
ATTN_FOR_EACH_PROCESSOR double dot(const double* x, const double* y, std::size_t n) { return dot_in_lanes(x, y, n); }
ATTN_FOR_EACH_PROCESSOR double distances_from(const double* x, std::size_t n, double c) {
  return sum_in_lanes(
      n, [=](std::size_t j) __attribute__((always_inline)) { return x[j] - c; });
}
ATTN_FOR_EACH_PROCESSOR double squared_distances_from(const double* x, std::size_t n, double c) {
  return sum_in_lanes(
      n, [=](std::size_t j) __attribute__((always_inline)) { return (x[j] - c) * (x[j] - c); });
}
ATTN_FOR_EACH_PROCESSOR void multiply_each(double* x, std::size_t n, double factor) {
  for (std::size_t j = 0; j < n; ++j) x[j] *= factor;
}
ATTN_FOR_EACH_PROCESSOR void add_multiple_to(double* x, std::size_t n, double factor, const double* y) {
  for (std::size_t j = 0; j < n; ++j) x[j] += factor * y[j];
}
ATTN_FOR_EACH_PROCESSOR void center(double* x, std::size_t n, double mean, double rest) {
  for (std::size_t j = 0; j < n; ++j) x[j] = (x[j] - mean) - rest;
}

ATTN_FOR_EACH_PROCESSOR void through_softmax(double* d, const double* weights, std::size_t n) {
  const double mean = dot_in_lanes(d, weights, n);
  for (std::size_t j = 0; j < n; ++j) d[j] = weights[j] * (d[j] - mean);
}

// A few columns at a time, whose sums stay in registers.
ATTN_FOR_EACH_PROCESSOR void add_up_columns(const double* x, std::size_t rows, std::size_t columns, double* sums) {
  constexpr std::size_t few = 4 * lanes;
  std::size_t j = 0;
  for (; j + few <= columns; j += few) {
    double some[few] = {};
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t l = 0; l < few; ++l) some[l] += x[i * columns + j + l];
    }
    for (std::size_t l = 0; l < few; ++l) sums[j + l] = some[l];
  }
  for (std::size_t l = j; l < columns; ++l) sums[l] = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t l = j; l < columns; ++l) sums[l] += x[i * columns + l];
  }
}

}  // namespace

// --- rows

bool is_finite(std::span<const double> numbers) {
  return count_not_smaller(numbers.data(), numbers.size(), -minus_infinity) == 0;
}

bool is_below_infinity(std::span<const double> numbers) {
  return count_not_below(numbers.data(), numbers.size(), -minus_infinity) == 0;
}

std::size_t place_of_largest(std::span<const double> row) {
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

bool is_masked(double score) { return std::isinf(score) && score < 0.0; }

std::vector<double> sums_of_others(std::span<const double> numbers) {
  std::vector<double> sums(numbers.size());
  double before = 0.0, after = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sums[i] += before;
    before += numbers[i];
  }
  for (std::size_t i = numbers.size(); i-- > 0;) {
    sums[i] += after;
    after += numbers[i];
  }
  return sums;
}

std::vector<std::size_t> places_of_largest(std::span<const double> row, std::size_t count) {
  std::vector<std::size_t> places(row.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(count, places.size()));
  std::partial_sort(places.begin(), end, places.end(),
                    [&](std::size_t a, std::size_t b) { return row[a] > row[b] || (a < b && row[a] == row[b]); });
  places.erase(end, places.end());
  return places;
}

double entropy(std::span<const double> weights) {
  const std::vector<double> others = sums_of_others(weights);
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i];
    // Near 1 the logarithm hangs on 1 − w, which the other weights know to all digits.
    if (weight > 0.5) sum -= weight * std::log1p(-others[i]) / std::numbers::ln2;
    if (weight > 0.0 && weight <= 0.5) sum -= weight * std::log2(weight);
  }
  return sum;
}

void softmax_row(std::span<double> row) { turn_into_weights(row.data(), row.size()); }

void round_to_single(std::span<double> cells) { round_each(cells.data(), cells.size()); }

void divide(std::span<double> cells, double divisor) { divide_by(cells.data(), cells.size(), divisor); }

void add(std::span<double> cells, std::span<const double> other) { add_to(cells.data(), other.data(), cells.size()); }

void subtract(std::span<double> cells, std::span<const double> other) {
  subtract_from(cells.data(), other.data(), cells.size());
}

void multiply(std::span<double> cells, std::span<const double> other) {
  multiply_cells(cells.data(), other.data(), cells.size());
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
  const double rounding = static_cast<double>(numbers.size()) * std::numeric_limits<double>::epsilon() * sizes;
  return std::isfinite(sizes) && std::fabs(sum) <= rounding ? 0.0 : sum;
}

// --- adam

void take_adam_step(std::span<double> parameter, std::span<double> first, std::span<double> second,
                    std::span<const double> gradient, const AdamNumbers& numbers) {
  step(parameter.data(), first.data(), second.data(), gradient.data(), parameter.size(), numbers);
}

// --- distance

void squared_distances(Rows a, Rows b, RowsToMake result) {
  const std::size_t size = b.shape.columns, others = b.shape.rows;
  constexpr std::size_t block = 256;  // what is read for one row of `a` stays in the cache for the next
  Matrix columns({size, others});
  transpose_into(b, rows_to_make(columns));
  std::ranges::fill(result.all(), 0.0);
  for (std::size_t begin = 0; begin < others; begin += block) {
    const std::size_t count = std::min(block, others - begin);
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const std::span<double> sums = result.row(i).subspan(begin, count);
      for (std::size_t c = 0; c < size; ++c) {
        add_squared_differences(sums, a(i, c), row(columns, c).subspan(begin, count));
      }
    }
  }
}

// --- row gradients

double sum_of_cells(std::span<const double> x) { return total(x.data(), x.size()); }
double dot_product(std::span<const double> x, std::span<const double> y) { return dot(x.data(), y.data(), x.size()); }
double sum_of_distances(std::span<const double> x, double c) { return distances_from(x.data(), x.size(), c); }
double sum_of_squared_distances(std::span<const double> x, double c) {
  return squared_distances_from(x.data(), x.size(), c);
}

void multiply(std::span<double> x, double factor) { multiply_each(x.data(), x.size(), factor); }
void add_multiple(std::span<double> x, double factor, std::span<const double> y) {
  add_multiple_to(x.data(), x.size(), factor, y.data());
}
void center_row(std::span<double> x, double mean, double rest) { center(x.data(), x.size(), mean, rest); }

void softmax_gradient_row(std::span<double> d, std::span<const double> weights) {
  through_softmax(d.data(), weights.data(), d.size());
}
void sum_columns(Rows x, std::span<double> sums) {
  add_up_columns(x.cells, x.shape.rows, x.shape.columns, sums.data());
}

int exponent_of(std::span<const double> row) {
  if (std::isnormal(dot_product(row, row))) return 0;
  double largest = 0.0;
  for (const double value : row) largest = std::max(largest, std::fabs(value));
  return largest == 0.0 || std::isinf(largest) ? 0 : std::ilogb(largest);
}

}  // namespace attn
