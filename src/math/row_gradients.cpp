#include "math/row_gradients.hpp"

#include "math/instructions.hpp"

namespace attn {
namespace {

constexpr std::size_t lanes = 8;

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

ATTN_FOR_EACH_PROCESSOR double total(const double* x, std::size_t n) {
  return total_in_lanes(x, n);
}
ATTN_FOR_EACH_PROCESSOR double dot(const double* x, const double* y, std::size_t n) {
  return dot_in_lanes(x, y, n);
}
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
ATTN_FOR_EACH_PROCESSOR void add_up_columns(const double* x, std::size_t rows, std::size_t columns,
                                            double* sums) {
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

double sum_of_cells(std::span<const double> x) {
  return total(x.data(), x.size());
}
double dot_product(std::span<const double> x, std::span<const double> y) {
  return dot(x.data(), y.data(), x.size());
}
double sum_of_distances(std::span<const double> x, double c) {
  return distances_from(x.data(), x.size(), c);
}
double sum_of_squared_distances(std::span<const double> x, double c) {
  return squared_distances_from(x.data(), x.size(), c);
}

void multiply(std::span<double> x, double factor) {
  multiply_each(x.data(), x.size(), factor);
}
void add_multiple(std::span<double> x, double factor, std::span<const double> y) {
  add_multiple_to(x.data(), x.size(), factor, y.data());
}
void center_row(std::span<double> x, double mean, double rest) {
  center(x.data(), x.size(), mean, rest);
}

void softmax_gradient_row(std::span<double> d, std::span<const double> weights) {
  through_softmax(d.data(), weights.data(), d.size());
}
void sum_columns(Rows x, std::span<double> sums) {
  add_up_columns(x.cells, x.shape.rows, x.shape.columns, sums.data());
}

}  // namespace attn
