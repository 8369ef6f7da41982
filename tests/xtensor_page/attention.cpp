// Causal self-attention of three words on arrays of xtensor: one head, then two.
// g++ -std=c++20 -O2 attention.cpp -o attention
#include <cmath>
#include <iostream>
#include <limits>
#include <stdexcept>
#if __has_include(<xtensor/containers/xtensor.hpp>)  // the newer places of the headers
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/io/xio.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xbuilder.hpp>
#include <xtensor/xio.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif

using Matrix = xt::xtensor<double, 2>;  // a word is a row

// a · b: [m, d] [d, n] -> [m, n]
Matrix product(const Matrix& a, const Matrix& b) {
  if (a.shape(1) != b.shape(0)) throw std::invalid_argument("product: columns of a, rows of b");
  Matrix c = xt::zeros<double>({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t k = 0; k < a.shape(1); ++k)
      for (std::size_t j = 0; j < b.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

// The weights of each row sum to 1. A row of −∞ alone becomes zeros: [m, n] -> [m, n]
Matrix softmax(const Matrix& scores) {
  const Matrix most = xt::amax(scores, {1}, xt::keep_dims);
  const Matrix e = xt::where(xt::isinf(most), 0.0, xt::exp(scores - most));
  const Matrix sums = xt::sum(e, {1}, xt::keep_dims);
  return e / xt::where(xt::equal(sums, 0.0), 1.0, sums);
}

// softmax(q kᵀ / √d) v, where a query attends to the keys whose cell of `allowed` is not 0.
Matrix attention(const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& allowed) {
  constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  const Matrix scores = product(q, xt::transpose(k));
  const Matrix scaled = scores / std::sqrt(static_cast<double>(q.shape(1)));
  const Matrix masked = xt::where(xt::equal(allowed, 0.0), minus_infinity, scaled);
  return product(softmax(masked), v);
}

// Each head has its own columns of q, k and v, and writes the same columns of the result.
Matrix heads(const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& allowed, std::size_t count) {
  Matrix joined = xt::zeros<double>(v.shape());
  const std::size_t d = q.shape(1) / count;
  for (std::size_t h = 0; h < count; ++h) {
    const auto part = [&](const Matrix& whole) -> Matrix {
      return xt::view(whole, xt::all(), xt::range(h * d, (h + 1) * d));
    };
    xt::view(joined, xt::all(), xt::range(h * d, (h + 1) * d)) = attention(part(q), part(k), part(v), allowed);
  }
  return joined;
}

int main() {
  const Matrix x = {{1, 0, 1, 0}, {0, 2, 0, 2}, {1, 1, 1, 1}};
  const Matrix w_q = {{1, 0, 0, 1}, {0, 1, 1, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}};
  const Matrix w_k = {{0, 1, 1, 0}, {1, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}};
  const Matrix w_v = {{1, 2, 0, 0}, {0, 1, 2, 0}, {0, 0, 1, 2}, {2, 0, 0, 1}};
  const Matrix q = product(x, w_q), k = product(x, w_k), v = product(x, w_v);
  const Matrix causal = xt::tril(xt::ones<double>({x.shape(0), x.shape(0)}));
  std::cout << attention(q, k, v, causal) << "\n" << heads(q, k, v, causal, 2) << "\n";
}
