#include <doctest/doctest.h>
#include <fmt/format.h>
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

bool near(const std::vector<double>& a, const std::vector<double>& b) {
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

RandomSource own(std::uint32_t seed) { return {random_kind::by_name, seed}; }

// How much two rows of numbers of mean 0 have in common, from −1 to 1.
double correlation(std::span<const double> a, std::span<const double> b) {
  double both = 0.0, of_a = 0.0, of_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) both += a[i] * b[i], of_a += a[i] * a[i], of_b += b[i] * b[i];
  return both / std::sqrt(of_a * of_b);
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
  CHECK(near(softmax_of({0.0, std::log(3.0)}), {0.25, 0.75}));
  CHECK(near(softmax_of({std::log(1.0), std::log(2.0), std::log(5.0)}), {0.125, 0.25, 0.625}));
  // 1 / (1 + e^-2), and e^-2 = 0.1353352832366127.
  CHECK(near(softmax_of({14, 12}), {1 / 1.1353352832366127, 0.1353352832366127 / 1.1353352832366127}));
  CHECK(near(softmax_of({7, 7, 7, 7}), {0.25, 0.25, 0.25, 0.25}));
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
      CHECK(near(softmax_of(row), expected));
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
  RandomSource numpy(random_kind::numpy, 0);
  const Words words{"a", "b"};
  const Matrix first = numpy.vectors({"x", {2, 3}, words}), then = numpy.parameter({"w_q", {2, 2}});
  CHECK(std::ranges::equal(cells(first), std::span(drawn).first(6)));
  CHECK(std::ranges::equal(cells(then), std::span(drawn).subspan(6)));
}

TEST_CASE("our own numbers are the same on every machine") {
  // Worked out in Python, whose generator begins with the same init_by_array: Random(sum(word << 32 * i)) of the words
  // [seed, *name.encode()], and random(), spread over [−√3, √3] and over [−√(6/(in + out)), √(6/(in + out))].
  const Words words{"dog", "猫"};
  CHECK(same(own(1).vectors({"x", {2, 3}, words}),
             matrix({{1.0021007155143713, -0.2284120043089597, -0.7966766940642405},
                     {0.3873905682635286, -0.5565024682405324, -0.6146460477683238}})));
  CHECK(same(own(1).parameter({"w_q", {2, 4}}),
             matrix({{-0.9787360867350814, 0.1830282437125843, 0.7295575997246713, 0.01811671008013027},
                     {0.5361113879477624, 0.5687692473900574, 0.26199123253265966, -0.5001618647755051}})));
  CHECK(own(7).parameter({"w_q", {3, 4}})(0, 2) == 0.7972888852748998);
  CHECK(own(4294967295).vectors({"x", {1, 2}, Words{"dog"}})(0, 1) == 0.21545514763832596);
  // A name that is longer than the state of the generator: 700 times "n".
  const std::string long_name(700, 'n');
  Generator long_one = generator_of(2, long_name);
  CHECK(uniform(long_one) == 0.17784435824359746);
}

TEST_CASE("a random matrix follows from the seed and its name, and a row or a column of it from its label") {
  const Words few{"dog", "man"}, more{"cat", "man", "dog"};
  RandomSource random = own(5);
  const Matrix x = random.vectors({"x", {2, 3}, few}), y = random.vectors({"x", {3, 3}, more});
  CHECK(std::ranges::equal(row(x, 0), row(y, 2)));
  CHECK(std::ranges::equal(row(x, 1), row(y, 1)));
  // Whatever is drawn before, and a longer row begins as a shorter one does.
  CHECK(same(random.parameter({"w_q", {3, 4}}), own(5).parameter({"w_q", {3, 4}})));
  CHECK(std::ranges::equal(row(own(5).vectors({"x", {1, 5}, Words{"dog"}}), 0).first(3), row(x, 0)));
  const auto column = [](const Matrix& one, std::size_t j) {
    return std::vector{one(0, j), one(1, j), one(2, j), one(3, j)};
  };
  const Matrix out = own(5).parameter({"w", {4, 4}, {}, Words{"a", "b", "c", "d"}});
  const Matrix turned = own(5).parameter({"w", {4, 4}, {}, Words{"d", "e", "a", "f"}});
  CHECK(column(out, 0) == column(turned, 2));
  CHECK(column(out, 3) == column(turned, 0));
  for (const auto& [seed, name] : {std::pair{6, "x"}, std::pair{5, "y"}})
    CHECK_FALSE(same(x, own(static_cast<std::uint32_t>(seed)).vectors({name, {2, 3}, few})));
}

TEST_CASE("numbers of similar names and seeds have nothing in common") {
  constexpr std::size_t size = 2000;
  std::vector<std::vector<double>> streams;
  for (const std::uint32_t seed : {0U, 1U, 2U, 3U, 256U, 65536U, 2147483648U, 4294967295U}) {
    for (const std::string_view name : {"w_q", "w_k", "w_v", "q_w", "w_", "w", "x[dog]", "x[dof]", "x[dogs]", "x[god]",
                                        "x[Dog]", "encoder.1.self_attention.w_q", "encoder.2.self_attention.w_q"}) {
      Generator generator = generator_of(seed, name);
      std::vector<double>& stream = streams.emplace_back();
      for (std::size_t i = 0; i < size; ++i) stream.push_back(uniform(generator) - 0.5);
    }
  }
  // Of 5356 pairs, the largest correlation is expected near 4/√2000 = 0.09; the same holds for the numbers one place
  // on.
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const std::span<const double> one = streams[i];
    for (std::size_t j = 0; j < i; ++j) {
      const std::span<const double> other = streams[j];
      CAPTURE(i);
      CAPTURE(j);
      CHECK(std::abs(correlation(one, other)) < 0.12);
      CHECK(std::abs(correlation(one.subspan(1), other.first(size - 1))) < 0.12);
    }
  }
  // The first numbers of many words and seeds are spread as they should: a twentieth lies in each twentieth.
  std::array<int, 20> counts{};
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    for (int word = 0; word < 500; ++word) {
      Generator generator = generator_of(seed, fmt::format("x[w{}]", word));
      ++counts.at(static_cast<std::size_t>(20 * uniform(generator)));
    }
  }
  for (const int count : counts) CHECK(std::abs(count - 500) < 110);
}

TEST_CASE("every kind of random numbers repeats itself for a seed, and only for that seed") {
  for (const RandomKind& kind : {random_kind::by_name, random_kind::numpy, random_kind::first_parameters}) {
    CAPTURE(kind.name);
    const auto drawn = [&](std::uint32_t seed) { return RandomSource(kind, seed).vectors({"x", {3, 4}}); };
    CHECK(same(drawn(5), drawn(5)));
    CHECK_FALSE(same(drawn(5), drawn(6)));
    RandomSource longer(kind, 5);
    longer.vectors({"x", {3, 4}});
    CHECK_FALSE(same(drawn(5), longer.vectors({"y", {3, 4}})));
  }
  for (const RandomKind& kind : random_kinds()) CHECK_FALSE(kind.summary.empty());
}

TEST_CASE("our vectors have variance one, and a projection keeps it") {
  RandomSource random = own(3);
  const auto mean_square = [](const Matrix& matrix) {
    double total = 0.0;
    for (const double cell : cells(matrix)) total += cell * cell;
    return total / static_cast<double>(matrix.size());
  };
  const Matrix x = random.vectors({"x", {200, 64}});
  CHECK(close(mean_square(x), 1.0, 0.05));
  CHECK(close(mean_square(product_of(x, random.parameter({"w_q", {64, 64}}))), 1.0, 0.1));
  Words words;
  for (int i = 0; i < 200; ++i) words.push_back(std::to_string(i));
  CHECK(close(mean_square(random.vectors({"x", {200, 64}, words})), 1.0, 0.05));
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
