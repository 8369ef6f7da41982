#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/math/product.hpp"
#include "core/math/random.hpp"
#include "core/math/rows.hpp"
#include "core/support/text.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> softmax_of(std::vector<double> row) {
  softmax_row(row);
  return row;
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return attn::close(x, y, 1e-15); });
}

std::size_t any_size() { return *rc::gen::inRange<std::size_t>(1, 20); }

Matrix any_matrix(Shape shape) {
  return filled(shape, [] { return *rc::gen::inRange(-4000, 4001) / 1000.0; });
}

Matrix product_of(const Matrix& a, const Matrix& b) {
  return made_by(product, {a.shape().rows, b.shape().columns}, a, b);
}
Matrix squared_distances_of(const Matrix& a, const Matrix& b) {
  return made_by(squared_distances, {a.shape().rows, b.shape().rows}, a, b);
}

std::unique_ptr<RandomSource> source(std::string_view kind, std::uint32_t seed) {
  return look_up(random_kinds(), kind, "kind").make(seed);
}

}  // namespace

TEST_CASE("a cell of a transposed matrix stands in the column of its row") {
  CHECK(same(transposed(matrix({{1, 2, 3}, {4, 5, 6}})), matrix({{1, 4}, {2, 5}, {3, 6}})));
  double next = 0;
  const Matrix large = filled({37, 50}, [&] { return ++next; });
  const Matrix turned = transposed(large);
  REQUIRE(turned.shape() == Shape{50, 37});
  CHECK(turned(0, 36) == large(36, 0));
  CHECK(turned(49, 17) == large(17, 49));
  CHECK(same(transposed(turned), large));
}

TEST_CASE("copies of a matrix share its cells until one of them is changed") {
  Matrix one = matrix({{1, 2}, {3, 4}});
  const Matrix other = one;
  CHECK(std::as_const(one).data() == other.data());
  one(0, 1) = 5;
  CHECK(same(one, matrix({{1, 5}, {3, 4}})));
  CHECK(same(other, matrix({{1, 2}, {3, 4}})));
  const double* const own = std::as_const(one).data();
  one(1, 1) = 6;
  CHECK(std::as_const(one).data() == own);
}

TEST_CASE("a softmax gives the numbers worked out by hand") {
  CHECK(close(softmax_of({0.0, std::log(3.0)}), {0.25, 0.75}));
  CHECK(close(softmax_of({std::log(1.0), std::log(2.0), std::log(5.0)}), {0.125, 0.25, 0.625}));
  // 1 / (1 + e^-2), and e^-2 = 0.1353352832366127.
  CHECK(close(softmax_of({14, 12}), {1 / 1.1353352832366127, 0.1353352832366127 / 1.1353352832366127}));
  CHECK(close(softmax_of({7, 7, 7, 7}), {0.25, 0.25, 0.25, 0.25}));
}

TEST_CASE("a softmax of more cells than there are lanes counts every cell once") {
  for (std::size_t n = 1; n <= 40; ++n) {
    for (std::size_t place = 0; place < n; ++place) {
      // One cell of weight n beside n − 1 cells of weight 1.
      std::vector<double> row(n, 0.0), expected(n, 1.0 / static_cast<double>(2 * n - 1));
      row[place] = std::log(static_cast<double>(n));
      expected[place] = static_cast<double>(n) / static_cast<double>(2 * n - 1);
      CAPTURE(n);
      CAPTURE(place);
      CHECK(close(softmax_of(row), expected));
    }
  }
}

TEST_CASE("a softmax neither overflows nor divides by zero") {
  CHECK(softmax_of({1e300, 1e300}) == std::vector{0.5, 0.5});
  CHECK(softmax_of({-1e300, -1e300}) == std::vector{0.5, 0.5});
  CHECK(softmax_of({1000, 0, -1e300}) == std::vector{1.0, 0.0, 0.0});
  CHECK(softmax_of({-infinity, 3, -infinity}) == std::vector{0.0, 1.0, 0.0});
  CHECK(softmax_of({-infinity, -infinity}) == std::vector{0.0, 0.0});
  CHECK(softmax_of({}).empty());
}

TEST_CASE("dividing and adding reach every cell") {
  for (std::size_t n = 0; n <= 20; ++n) {
    std::vector<double> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = 3.0 * static_cast<double>(i), y[i] = 0.5;
    divide(x, 3.0);
    add(x, y);
    for (std::size_t i = 0; i < n; ++i) CHECK(x[i] == static_cast<double>(i) + 0.5);
  }
}

TEST_CASE("uniform numbers are those of NumPy") {
  // numpy.random.seed(0); numpy.random.rand(10).
  constexpr std::array drawn = {0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969,
                                0.4236547993389047, 0.6458941130666561, 0.4375872112626925, 0.8917730007820798,
                                0.9636627605010293, 0.3834415188257777};
  Generator generator(0);
  for (const double expected : drawn) CHECK(uniform(generator) == expected);

  // Embeddings and parameters are drawn from the same stream.
  const auto numpy = source("numpy", 0);
  const Matrix first = numpy->embeddings({2, 3}), then = numpy->parameter({2, 2});
  CHECK(std::ranges::equal(cells(first), std::span(drawn).first(6)));
  CHECK(std::ranges::equal(cells(then), std::span(drawn).subspan(6)));
}

TEST_CASE("our own numbers are the same on every machine") {
  // Worked out in Python: init_genrand and genrand_res53 of Matsumoto and Nishimura, spread over [−√3, √3],
  // and over [−√(6/(in + out)), √(6/(in + out))].
  CHECK(same(source("attn", 1)->embeddings({2, 3}),
             matrix({{-0.28744420753070643, 0.7632264335873873, -1.7316546015793817},
                     {-0.6847400544061686, -1.2236734891583358, -1.4121805322907341}})));
  CHECK(same(source("attn", 1)->parameter({2, 4}),
             matrix({{-0.165955990594852, 0.4406489868843162, -0.9997712503653102, -0.39533485473632046},
                     {-0.7064882183657739, -0.8153228104624044, -0.6274795772446582, -0.3088785459139045}})));
  CHECK(source("attn", 7)->parameter({3, 4})(0, 2) == -0.11404394298492015);
  CHECK(source("attn", 4294967295)->embeddings({1, 2})(0, 1) == 1.4285360804679148);
}

TEST_CASE("every kind of random numbers repeats itself for a seed, and only for that seed") {
  for (const RandomKind& kind : random_kinds()) {
    CAPTURE(kind.name);
    CHECK_FALSE(kind.summary.empty());
    const Matrix once = kind.make(5)->embeddings({3, 4});
    CHECK(same(once, kind.make(5)->embeddings({3, 4})));
    CHECK_FALSE(same(once, kind.make(6)->embeddings({3, 4})));
    const auto longer = kind.make(5);
    longer->embeddings({3, 4});
    CHECK_FALSE(same(once, longer->embeddings({3, 4})));
  }
}

TEST_CASE("our embeddings have variance one, and a projection keeps it") {
  const auto own = source("attn", 3);
  const auto mean_square = [](const Matrix& matrix) {
    double total = 0.0;
    for (const double cell : cells(matrix)) total += cell * cell;
    return total / static_cast<double>(matrix.size());
  };
  const Matrix x = own->embeddings({200, 64});
  CHECK(close(mean_square(x), 1.0, 0.05));
  CHECK(close(mean_square(product_of(x, own->parameter({64, 64}))), 1.0, 0.1));
}

TEST_CASE("matrices begin at a cache line, large ones at a huge page") {
  const auto address = [](const Matrix& matrix) { return reinterpret_cast<std::uintptr_t>(matrix.data()); };
  for (std::size_t n = 1; n < 20; ++n) CHECK(address(Matrix({n, 3})) % 64 == 0);
  CHECK(address(Matrix({1024, 512})) % (1 << 21) == 0);
}

TEST_CASE("only a row of minus infinity alone may look at nothing, and NaN comes out as NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(softmax_of({-infinity, -infinity}) == std::vector<double>{0.0, 0.0});
  for (const std::vector<double>& row :
       {std::vector<double>{nan, nan}, {nan, -infinity}, {-infinity, nan, 1.0}, std::vector<double>(20, nan)}) {
    for (const double weight : softmax_of(row)) CHECK(std::isnan(weight));
  }
}

TEST_CASE("squared distances agree with three nested loops, across all blocks") {
  CHECK(rc::check("small matrices", [] {
    const std::size_t size = any_size();
    const Matrix a = any_matrix({any_size(), size}), b = any_matrix({any_size(), size});
    const Matrix distances = squared_distances_of(a, b);
    for (std::size_t i = 0; i < a.shape().rows; ++i) {
      for (std::size_t j = 0; j < b.shape().rows; ++j) {
        double sum = 0.0;
        for (std::size_t c = 0; c < size; ++c) sum += (a(i, c) - b(j, c)) * (a(i, c) - b(j, c));
        RC_ASSERT(attn::close(distances(i, j), sum, 1e-12));
      }
    }
  }));
  int number = 0;
  const Matrix many = filled({700, 2}, [&] { return static_cast<double>(number++); });
  const Matrix distances = squared_distances_of(many, many);
  for (std::size_t i = 0; i < 700; ++i) {
    for (std::size_t j = 0; j < 700; ++j) {
      const double apart = 2.0 * (static_cast<double>(i) - static_cast<double>(j));
      REQUIRE(distances(i, j) == 2.0 * apart * apart);
    }
  }
}

TEST_CASE("distances far from the origin have all of their digits") {
  CHECK(same(squared_distances_of(matrix({{1e8 + 1, 0}}), matrix({{1e8, 1}, {1e8, 0}})), matrix({{2, 1}})));
}
