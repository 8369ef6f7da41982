// What docs/xtensor.md says of forms of code: whether they are right in the installed release of xtensor, and how long
// they take. Usage: attn_xtensor_forms, or attn_xtensor_forms times
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/core/xnoalias.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/generators/xrandom.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif
// xtensor-blas reads headers of xtensor where they were when it was released.
#include <xtensor-blas/xblas_config.hpp>
#if !__has_include(<xtensor/containers/xtensor.hpp>) || XTENSOR_BLAS_VERSION_MINOR > 21
#include <xtensor-blas/xlinalg.hpp>
#define ATTN_HAS_LINALG
#endif

namespace {

using Matrix = xt::xtensor<double, 2>;

// --- reductions of rows

template <class Array>
Matrix less_the_largest_wrongly(const Array& s) {
  return s - xt::amax(s, {1}, xt::keep_dims);
}
template <class Array>
Matrix less_the_mean_wrongly(const Array& s) {
  return s - xt::mean(s, {1}, xt::keep_dims);
}
template <class Array>
Matrix shares_wrongly(const Array& e) {
  return e / xt::sum(e, {1}, xt::keep_dims);
}
template <class Array>
Matrix shares_of_a_variable_wrongly(const Array& e) {
  const auto sums = xt::sum(e, {1}, xt::keep_dims);
  return e / sums;
}
template <class Array>
Matrix less_the_largest(const Array& s) {
  const Matrix most = xt::amax(s, {1}, xt::keep_dims);
  return s - most;
}
template <class Array>
Matrix shares(const Array& e) {
  const Matrix sums = xt::sum(e, {1}, xt::keep_dims);
  return e / sums;
}
template <class Array>
Matrix shares_at_once(const Array& e) {
  return e / Matrix(xt::sum(e, {1}, xt::keep_dims | xt::evaluation_strategy::immediate));
}
template <class Array>
Matrix shares_by_column(const Array& e) {
  return e / xt::view(xt::sum(e, {1}), xt::all(), xt::newaxis());
}
template <class Array>
Matrix shares_of_columns(const Array& e) {
  return e / xt::sum(e, {1});
}

// --- the same array on both sides

Matrix joined_to_itself(Matrix a, const Matrix& b) {
  a = xt::concatenate(xt::xtuple(a, b), 1);
  return a;
}
Matrix joined(const Matrix& a, const Matrix& b) {
  const Matrix both = xt::concatenate(xt::xtuple(a, b), 1);
  return both;
}
Matrix transposed_onto_itself(Matrix a) {
  xt::noalias(a) = xt::transpose(a);
  return a;
}
Matrix transposed(Matrix a) {
  a = xt::transpose(a);
  return a;
}

// --- what is computed later, or again

Matrix doubled_before_a_change(Matrix a) {
  const auto doubled = 2.0 * a;
  a(0, 0) = 100.0;
  return doubled;
}
Matrix difference_of_random_numbers() {
  const auto w = xt::random::randn<double>({2, 2});
  return w - w;
}
Matrix difference_of_the_same_numbers() {
  const Matrix w = xt::random::randn<double>({2, 2});
  return w - w;
}
double beyond_the_row(const Matrix& a) { return a(0, 2); }

// --- masks

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

Matrix masked_by_a_product(const Matrix& scores, const Matrix& allowed) {
  return scores + (1.0 - allowed) * minus_infinity;
}
Matrix masked(const Matrix& scores, const Matrix& allowed) {
  return xt::where(xt::equal(allowed, 0.0), minus_infinity, scores);
}

// --- products: q kᵀ

Matrix product_by_definition(const Matrix& q, const Matrix& k) {
  return xt::sum(xt::view(q, xt::all(), xt::newaxis(), xt::all()) * xt::view(k, xt::newaxis(), xt::all(), xt::all()),
                 {2});
}
Matrix product_in_loops(const Matrix& a, const Matrix& b) {
  Matrix c = xt::zeros<double>({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t k = 0; k < a.shape(1); ++k)
      for (std::size_t j = 0; j < b.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
#ifdef ATTN_HAS_LINALG
Matrix product_by_blas(const Matrix& q, const Matrix& k) { return xt::linalg::dot(q, xt::transpose(k)); }
Matrix product_into(const Matrix& q, const Matrix& k) {
  Matrix c = Matrix::from_shape({q.shape(0), k.shape(0)});
  xt::blas::gemm(q, k, c, false, true);
  return c;
}
Matrix scores_of_some_wrongly(const Matrix& x) {
  return xt::linalg::dot(xt::view(x, xt::range(0, 2), xt::all()), xt::transpose(x));
}
Matrix scores_of_some(const Matrix& x) {
  const Matrix some = xt::view(x, xt::range(0, 2), xt::all());
  return xt::linalg::dot(some, xt::transpose(x));
}
std::string refusal_of_columns(const Matrix& q, const Matrix& w) {
  try {
    const Matrix product = xt::linalg::dot(xt::view(q, xt::all(), xt::range(0, 2)), w);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}
#endif

// --- softmax of rows

Matrix softmax(const Matrix& scores) {
  const Matrix most = xt::amax(scores, {1}, xt::keep_dims);
  const Matrix e = xt::exp(scores - most);
  const Matrix sums = xt::sum(e, {1}, xt::keep_dims);
  return e / sums;
}
Matrix softmax_by_column(const Matrix& scores) {
  const Matrix e = xt::exp(scores - xt::view(xt::amax(scores, {1}), xt::all(), xt::newaxis()));
  return e / xt::view(xt::sum(e, {1}), xt::all(), xt::newaxis());
}
Matrix softmax_in_loops(const Matrix& scores) {
  Matrix weights = scores;
  for (std::size_t i = 0; i < weights.shape(0); ++i) {
    double* const row = weights.data() + i * weights.shape(1);
    double* const end = row + weights.shape(1);
    const double most = *std::max_element(row, end);
    double sum = 0.0;
    for (double* cell = row; cell != end; ++cell) sum += * cell = std::exp(*cell - most);
    for (double* cell = row; cell != end; ++cell) *cell /= sum;
  }
  return weights;
}

// --- heads, a bias, and cells

Matrix columns_by_view(const Matrix& x, std::size_t first, std::size_t count) {
  return xt::view(x, xt::all(), xt::range(first, first + count));
}
Matrix columns_by_rows(const Matrix& x, std::size_t first, std::size_t count) {
  Matrix part = Matrix::from_shape({x.shape(0), count});
  for (std::size_t i = 0; i < x.shape(0); ++i) std::copy_n(&x(i, first), count, &part(i, 0));
  return part;
}
Matrix with_bias(const Matrix& x, const xt::xtensor<double, 1>& b) { return x + b; }
Matrix with_bias_in_loops(const Matrix& x, const xt::xtensor<double, 1>& b) {
  Matrix y = Matrix::from_shape(x.shape());
  for (std::size_t i = 0; i < x.shape(0); ++i)
    for (std::size_t j = 0; j < x.shape(1); ++j) y(i, j) = x(i, j) + b(j);
  return y;
}
Matrix scaled(const Matrix& x) { return x / 8.0; }
Matrix scaled_in_loops(const Matrix& x) {
  Matrix y = Matrix::from_shape(x.shape());
  for (std::size_t i = 0; i < x.shape(0); ++i)
    for (std::size_t j = 0; j < x.shape(1); ++j) y(i, j) = x(i, j) / 8.0;
  return y;
}

// --- what is right

bool is(const Matrix& a, const Matrix& b) {
  return a.shape() == b.shape() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::fabs(x - y) < 1e-12; });
}

void tell(const char* form, bool right) { std::printf("%s: %s\n", form, right ? "right" : "wrong"); }

void tell_forms() {
  std::printf("xtensor %d.%d.%d\n", XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH);
  // What is read beyond the array is here its own memory.
  std::vector<double> scores = {0, 1, 2, 2, 9, 9, 9, 9}, sizes = {1, 3, 1, 1, 9, 9, 9, 9};
  const std::array<std::size_t, 2> two_by_two = {2, 2};
  const auto s = xt::adapt(scores.data(), 4, xt::no_ownership(), two_by_two);
  const auto e = xt::adapt(sizes.data(), 4, xt::no_ownership(), two_by_two);
  const Matrix a = {{1, 2}, {3, 4}}, b = {{5}, {6}}, differences = {{-1, 0}, {0, 0}},
               of_rows = {{0.25, 0.75}, {0.5, 0.5}};
  tell("less_the_largest_wrongly", is(less_the_largest_wrongly(s), differences));
  tell("less_the_mean_wrongly", is(less_the_mean_wrongly(s), {{-0.5, 0.5}, {0, 0}}));
  tell("shares_wrongly", is(shares_wrongly(e), of_rows));
  tell("shares_of_a_variable_wrongly", is(shares_of_a_variable_wrongly(e), of_rows));
  tell("less_the_largest", is(less_the_largest(s), differences));
  tell("shares", is(shares(e), of_rows));
  tell("shares_at_once", is(shares_at_once(e), of_rows));
  tell("shares_by_column", is(shares_by_column(e), of_rows));
  tell("shares_of_columns", is(shares_of_columns(e), of_rows));
  tell("joined_to_itself", is(joined_to_itself(a, b), {{1, 2, 5}, {3, 4, 6}}));
  tell("joined", is(joined(a, b), {{1, 2, 5}, {3, 4, 6}}));
  tell("transposed_onto_itself", is(transposed_onto_itself(a), {{1, 3}, {2, 4}}));
  tell("transposed", is(transposed(a), {{1, 3}, {2, 4}}));
  tell("doubled_before_a_change", is(doubled_before_a_change(a), {{2, 4}, {6, 8}}));
  tell("difference_of_random_numbers", is(difference_of_random_numbers(), {{0, 0}, {0, 0}}));
  tell("difference_of_the_same_numbers", is(difference_of_the_same_numbers(), {{0, 0}, {0, 0}}));
  tell("beyond_the_row", beyond_the_row(a) != a(1, 0));
  const Matrix causal = {{1, 0}, {1, 1}};
  tell("masked_by_a_product", masked_by_a_product(a, causal)(0, 0) == 1.0);
  tell("masked", masked(a, causal)(0, 0) == 1.0 && masked(a, causal)(0, 1) == minus_infinity);
  const Matrix x = {{1, 2}, {3, 4}, {5, 6}}, of_all = {{5, 11, 17}, {11, 25, 39}, {17, 39, 61}};
  tell("product_by_definition", is(product_by_definition(x, x), of_all));
  tell("product_in_loops", is(product_in_loops(x, xt::transpose(x)), of_all));
#ifdef ATTN_HAS_LINALG
  tell("product_by_blas", is(product_by_blas(x, x), of_all));
  tell("product_into", is(product_into(x, x), of_all));
  tell("scores_of_some_wrongly", is(scores_of_some_wrongly(x), {{5, 11, 17}, {11, 25, 39}}));
  tell("scores_of_some", is(scores_of_some(x), {{5, 11, 17}, {11, 25, 39}}));
  tell("refusal_of_columns", refusal_of_columns({{1, 2, 3}, {4, 5, 6}}, {{1, 2}, {3, 4}}) == "No valid layout chosen.");
#endif
  const Matrix weights = softmax(a);
  tell("softmax", std::fabs(weights(0, 1) - 1.0 / (1.0 + std::exp(-1.0))) < 1e-15 && is(softmax_in_loops(a), weights));
  tell("softmax_by_column", is(softmax_by_column(a), weights));
  tell("columns_by_view", is(columns_by_view(a, 1, 1), {{2}, {4}}) && is(columns_by_rows(a, 1, 1), {{2}, {4}}));
  tell("with_bias",
       is(with_bias(a, {10, 20}), {{11, 22}, {13, 24}}) && is(with_bias_in_loops(a, {10, 20}), with_bias(a, {10, 20})));
  tell("scaled", is(scaled(a), scaled_in_loops(a)));
}

// --- times

double seconds_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Microseconds of the processor: the shortest of seven runs, each of which takes 20 ms or more.
template <class Work>
double microseconds_of(const Work& work) {
  double shortest = 1e9, sink = 0.0;
  for (int run = 0; run < 7; ++run) {
    int times = 0;
    const double begin = seconds_now();
    double end = begin;
    for (; end - begin < 0.02; ++times, end = seconds_now()) sink += work();
    shortest = std::min(shortest, (end - begin) / times);
  }
  if (sink == 0.5) std::puts("");  // so that no work is left out
  return 1e6 * shortest;
}

template <class Form>
void tell_time(const char* form, const Form& form_of_size) {
  std::printf("| %s |", form);
  for (const std::size_t n : {std::size_t{64}, std::size_t{512}}) {
    const double time = form_of_size(n);
    std::printf(time < 100 ? " %.1f |" : " %.0f |", time);
  }
  std::puts("");
  std::fflush(stdout);
}

Matrix random_matrix(std::size_t rows, std::size_t columns) {
  return xt::random::randn<double>(std::vector<std::size_t>{rows, columns});
}

// The time of a form that makes a matrix of others: [n, n] of scores, [n, 64] of words.
template <class Form>
auto of_scores(const Form& form) {
  return [form](std::size_t n) {
    const Matrix x = random_matrix(n, n);
    return microseconds_of([&] { return form(x)(0, 0); });
  };
}
template <class Form>
auto of_words(const Form& form) {
  return [form](std::size_t n) {
    const Matrix q = random_matrix(n, 64), k = random_matrix(n, 64);
    return microseconds_of([&] { return form(q, k)(0, 0); });
  };
}

void tell_times() {
  std::puts("| form | n = 64 | n = 512 |\n| :--- | ---: | ---: |");
  tell_time("`product_by_definition`", of_words(product_by_definition));
  tell_time("`product_in_loops`",
            of_words([](const Matrix& q, const Matrix& k) { return product_in_loops(q, xt::transpose(k)); }));
#ifdef ATTN_HAS_LINALG
  tell_time("`product_by_blas`", of_words(product_by_blas));
  tell_time("`product_into`", of_words(product_into));
#endif
  tell_time("`softmax_by_column`", of_scores(softmax_by_column));
  tell_time("`softmax`", of_scores(softmax));
  tell_time("`softmax_in_loops`", of_scores(softmax_in_loops));
  tell_time("`scaled`", of_scores(scaled));
  tell_time("`scaled_in_loops`", of_scores(scaled_in_loops));
  const xt::xtensor<double, 1> bias = xt::zeros<double>({512});
  const auto bias_of = [&](const Matrix& x) -> xt::xtensor<double, 1> {
    return xt::view(bias, xt::range(0, x.shape(1)));
  };
  tell_time("`with_bias`", of_scores([&](const Matrix& x) { return with_bias(x, bias_of(x)); }));
  tell_time("`with_bias_in_loops`", of_scores([&](const Matrix& x) { return with_bias_in_loops(x, bias_of(x)); }));
  tell_time("`columns_by_view`", of_words([](const Matrix& q, const Matrix&) { return columns_by_view(q, 16, 16); }));
  tell_time("`columns_by_rows`", of_words([](const Matrix& q, const Matrix&) { return columns_by_rows(q, 16, 16); }));
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string(words[1]) == "times")
    tell_times();
  else
    tell_forms();
}
