#include "core/math/rows.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/op/operations.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// Numbers without a pattern between −1 and 1.
std::vector<double> numbers(std::size_t n, double from) {
  std::vector<double> x(n);
  for (std::size_t j = 0; j < n; ++j) x[j] = std::sin(from + 1.7 * static_cast<double>(j * j + j));
  return x;
}

double sum_of_products(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
  return sum;
}

// The gradient of d · f(x) by x, by central differences.
template <class F>
std::vector<double> by_differences(const F& f, std::vector<double> x, const std::vector<double>& d) {
  constexpr double step = 1e-6;
  std::vector<double> gradient;
  for (double& cell : x) {
    const double at = cell;
    cell = at + step;
    const double above = sum_of_products(d, f(x));
    cell = at - step;
    const double below = sum_of_products(d, f(x));
    cell = at;
    gradient.push_back((above - below) / (2.0 * step));
  }
  return gradient;
}

std::vector<double> softmax_of(std::vector<double> x) {
  softmax_row(x);
  return x;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t j = 0; j < a.size(); ++j) {
    CAPTURE(j);
    CHECK(close(a[j], b[j], tolerance));
  }
}

constexpr std::size_t several[] = {1, 2, 7, 8, 9, 16, 31, 40, 65};

}  // namespace

TEST_CASE("sums of a row reach every cell once") {
  for (std::size_t n = 0; n <= 40; ++n) {
    std::vector<double> ones(n, 1.0), threes(n, 3.0);
    CHECK(sum_of_cells(threes) == 3.0 * static_cast<double>(n));
    CHECK(dot_product(ones, threes) == 3.0 * static_cast<double>(n));
    CHECK(sum_of_distances(threes, 1.0) == 2.0 * static_cast<double>(n));
    CHECK(sum_of_squared_distances(threes, 1.0) == 4.0 * static_cast<double>(n));
    multiply(threes, 2.0);
    center_row(threes, 1.0, -2.0);
    add_multiple(threes, 0.5, ones);
    CHECK(threes == std::vector<double>(n, 7.5));
  }
}

TEST_CASE("the gradient of a softmax is that of differences") {
  for (const std::size_t n : several) {
    CAPTURE(n);
    const std::vector<double> x = numbers(n, 0.3), d = numbers(n, 2.0);
    std::vector<double> gradient = d;
    softmax_gradient_row(gradient, softmax_of(x));
    check_close(gradient, by_differences(softmax_of, x, d), 1e-9);
  }
}

TEST_CASE("the variance of a row with NaN is NaN, and that of equal numbers is 0") {
  const auto graph = std::make_shared<Graph>();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Value x = graph->input(name_from_text("x"), matrix({{1, nan, 3}, {0.1, 0.1, 0.1}, {1, 2, 3}}), axis("rows"),
                               axis("columns"));
  const Matrix variances = row_variances(x, row_means(x)).matrix();
  CHECK(std::isnan(variances(0, 0)));
  CHECK(variances(1, 0) == 0.0);
  CHECK_FALSE(std::signbit(variances(1, 0)));
  CHECK(variances(2, 0) == doctest::Approx(2.0 / 3.0));
}

TEST_CASE("sums of columns add rows from the first to the last") {
  for (const std::size_t columns : {1, 5, 8, 31, 32, 33, 64, 70}) {
    CAPTURE(columns);
    Matrix x({3, columns});
    for (std::size_t j = 0; j < columns; ++j) {
      x(0, j) = 1e16;
      x(1, j) = static_cast<double>(2 * j);
      x(2, j) = -1e16;
    }
    std::vector<double> sums(columns, -1.0);
    sum_columns(rows_of(x), sums);
    for (std::size_t j = 0; j < columns; ++j) CHECK(sums[j] == static_cast<double>(2 * j));
  }
}

TEST_CASE("a step of Adam is the one worked out by hand") {
  // The first step goes by the rate against the sign of the gradient: m̂ = g and v̂ = g².
  std::vector<double> parameter(11, 1.0), first(11, 0.0), second(11, 0.0), gradient(11, 0.5);
  gradient[10] = -3.0;
  AdamNumbers by{.rate = 0.1,
                 .beta_1 = 0.9,
                 .beta_2 = 0.98,
                 .epsilon = 0.0,
                 .factor = 2.0,
                 .first_correction = 1.0 / (1.0 - 0.9),
                 .second_correction = 1.0 / (1.0 - 0.98)};
  take_adam_step(parameter, first, second, gradient, by);
  CHECK(close(parameter[0], 0.9, 1e-12));
  CHECK(close(parameter[10], 1.1, 1e-12));
  CHECK(close(first[0], 0.1, 1e-15));     // 0.1 · (0.5 · 2)
  CHECK(close(second[10], 0.72, 1e-14));  // 0.02 · (3 · 2)²
  // With no gradient it goes on: m = 0.09, v = 0.0196, and ε is beside the root.
  gradient.assign(11, 0.0);
  by.epsilon = 0.06;
  by.first_correction = by.second_correction = 1.0;
  take_adam_step(parameter, first, second, gradient, by);
  CHECK(close(parameter[0], 0.9 - 0.1 * 0.09 / 0.2, 1e-12));
}
