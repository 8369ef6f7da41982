#include "core/math/product.hpp"

#include <rapidcheck.h>

#include <limits>

#include "core/math/random.hpp"
#include "core/math/small_product.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

Matrix product_of(const Matrix& a, const Matrix& b) {
  return made_by(product, {a.shape().rows, b.shape().columns}, a, b);
}
Matrix product_transposed_of(const Matrix& a, const Matrix& b) {
  return made_by(product_transposed, {a.shape().rows, b.shape().rows}, a, b);
}
Matrix product_of_transposed_of(const Matrix& a, const Matrix& b) {
  return made_by(product_of_transposed, {a.shape().columns, b.shape().columns}, a, b);
}

Matrix naive_product(const Matrix& a, const Matrix& b) {
  Matrix result({a.shape().rows, b.shape().columns}, 0.0);
  for (std::size_t i = 0; i < a.shape().rows; ++i) {
    for (std::size_t j = 0; j < b.shape().columns; ++j) {
      for (std::size_t k = 0; k < b.shape().rows; ++k) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

Matrix drawn(Shape shape) { return RandomSource(random_kind::by_name, 1).vectors({"x", shape}); }

struct Sizes {
  std::size_t m, k, n;
};

// Around the sizes of registers, of blocks of terms and of panels, and past what is small.
constexpr Sizes several_sizes[] = {{1, 1, 1},     {1, 7, 64},   {1, 130, 70},  {2, 16, 8},   {3, 5, 9},
                                   {7, 128, 16},  {8, 129, 17}, {9, 257, 31},  {16, 16, 16}, {65, 8, 33},
                                   {70, 64, 100}, {33, 300, 5}, {12, 300, 301}};

void check_all_products(const Matrix& a, const Matrix& b, const Matrix& expected, double tolerance) {
  CHECK(close(product_of(a, b), expected, tolerance));
  CHECK(close(product_transposed_of(a, transposed(b)), expected, tolerance));
  CHECK(close(product_of_transposed_of(transposed(a), b), expected, tolerance));
}

}  // namespace

TEST_CASE("products give the numbers worked out by hand") {
  check_all_products(matrix({{1, 2}, {3, 4}}), matrix({{5, 6}, {7, 8}}), matrix({{19, 22}, {43, 50}}), 0.0);
  check_all_products(matrix({{1, 2, 3}}), matrix({{4}, {5}, {6}}), matrix({{32}}), 0.0);
}

TEST_CASE("products agree with three nested loops") {
  for (const Sizes& sizes : several_sizes) {
    CAPTURE(sizes.m);
    CAPTURE(sizes.k);
    CAPTURE(sizes.n);
    const Matrix a = drawn({sizes.m, sizes.k}), b = drawn({sizes.k, sizes.n});
    check_all_products(a, b, naive_product(a, b), 1e-12 * static_cast<double>(sizes.k));
  }
  CHECK(rc::check("products of any small sizes agree with three nested loops", [] {
    const auto any_size = [] { return *rc::gen::inRange<std::size_t>(1, 40); };
    const Matrix a = drawn({any_size(), any_size()}), b = drawn({a.shape().columns, any_size()});
    const Matrix expected = naive_product(a, b);
    RC_ASSERT(close(product_of(a, b), expected, 1e-12));
    RC_ASSERT(close(product_transposed_of(a, transposed(b)), expected, 1e-12));
    RC_ASSERT(close(product_of_transposed_of(transposed(a), b), expected, 1e-12));
  }));
}

TEST_CASE("every kernel of small products that this processor has gives the same bits") {
  for (const Sizes& sizes : several_sizes) {
    const Matrix a = drawn({sizes.m, sizes.k}), b = drawn({sizes.k, sizes.n});
    const Matrix b_transposed = transposed(b), a_transposed = transposed(a);
    Matrix first({sizes.m, sizes.n});
    const auto [m, k, n] = sizes;
    multiply({{a.data(), k, 1}, {b.data(), n, 1}, first.data(), m, n, k});
    for (const SmallProductKernel& kernel : small_product_kernels()) {
      if (!kernel.is_here()) continue;
      CAPTURE(kernel.instructions);
      Matrix one({m, n}), two({m, n}), three({m, n});
      kernel.multiply({{a.data(), k, 1}, {b.data(), n, 1}, one.data(), m, n, k});
      kernel.multiply({{a.data(), k, 1}, {b_transposed.data(), 1, k}, two.data(), m, n, k});
      kernel.multiply({{a_transposed.data(), 1, m}, {b.data(), n, 1}, three.data(), m, n, k});
      CHECK(same_bits(one, first));
      CHECK(same_bits(two, first));
      CHECK(same_bits(three, first));
    }
  }
}

TEST_CASE("a row of a small product has the same bits whatever rows are made with it") {
  for (const Sizes& sizes : several_sizes) {
    const Matrix a = drawn({sizes.m, sizes.k}), b = drawn({sizes.k, sizes.n}), a_transposed = transposed(a);
    const Matrix all = product_of(a, b), also_all = product_of_transposed_of(a_transposed, b);
    const bool is_small = b.size() <= (1 << 16);
    for (std::size_t i = 0; is_small && i < sizes.m; ++i) {
      Matrix one({1, sizes.n}), other = one;
      product(rows_of(a), rows_of(b), {one.data(), i, one.shape()});
      product_of_transposed(rows_of(a_transposed), rows_of(b), {other.data(), i, other.shape()});
      CHECK(std::ranges::equal(row(one, 0), row(all, i)));
      CHECK(std::ranges::equal(row(other, 0), row(also_all, i)));
    }
  }
}

TEST_CASE("a small product is the sum of its terms from the first to the last") {
  // 2^53 + 1 − 2^53 is 0 in this order, and 1 in others.
  constexpr double large = 9007199254740992.0;
  const Matrix a = matrix({{large, 1, -large}}), ones({3, 20}, 1.0);
  CHECK(same(product_of(a, ones), Matrix({1, 20}, 0.0)));
  CHECK(same(product_of_transposed_of(transposed(a), ones), Matrix({1, 20}, 0.0)));
}

TEST_CASE("what is not finite stays in its rows and columns of a product") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Matrix a({3, 9}, 1.0), b({9, 5}, 1.0);
  a(1, 8) = infinity;
  b(0, 4) = std::numeric_limits<double>::quiet_NaN();
  const Matrix result = product_of(a, b);
  CHECK(result(0, 3) == 9.0);
  CHECK(result(1, 3) == infinity);
  CHECK(std::isnan(result(1, 4)));
  CHECK(std::isnan(result(2, 4)));
}

TEST_CASE("empty matrices are not multiplied") {
  const Matrix wide = Matrix({2, 3}, 1.0), tall = Matrix({3, 2}, 1.0), empty({0, 3});
  check_refused({
      {"a 0×3 matrix cannot be multiplied by a 3×2 matrix: one of them is empty", [&] { product_of(empty, tall); }},
      {"one of them is empty", [&] { product_transposed_of(wide, empty); }},
      {"one of them is empty", [&] { product_of_transposed_of(empty, empty); }},
  });
}
