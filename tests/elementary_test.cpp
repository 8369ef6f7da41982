#include "core/math/elementary_functions.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "testing.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using OfNumber = double (*)(double);
using OfLong = long double (*)(long double);

// How far from the true number, in units of its last place.
double error_in_ulps(double found, long double truth) {
  const auto nearest = std::fabs(static_cast<double>(truth));
  const double ulp = std::nextafter(nearest, infinity) - nearest;
  return static_cast<double>(fabsl(static_cast<long double>(found) - truth) / ulp);
}

struct Measured {
  double worst = 0.0, where = 0.0;
};

// Over some numbers of the range, evenly, and near 0 by their size.
Measured worst_error(OfNumber f, OfLong truth, double from, double to) {
  Measured measured;
  const auto look_at = [&](double x) {
    const double error = error_in_ulps(f(x), truth(static_cast<long double>(x)));
    if (!(error <= measured.worst)) measured = {error, x};
  };
  constexpr int steps = 40000;
  for (int i = 0; i <= steps; ++i) look_at(from + (to - from) * (i / static_cast<double>(steps)));
  for (double x = std::min(to, 1.0); x > 1e-300 && x > from; x /= 1.37) look_at(x);
  return measured;
}

long double true_logistic(long double x) { return 1.0L / (1.0L + expl(-x)); }

struct Claim {
  const char* name;
  OfNumber f;
  OfLong truth;
  double from, to, ulps;
};

const Claim claims[] = {
    {"exp", elementary::exp, expl, -708.0, 709.7, 1.0},
    {"tanh", elementary::tanh, tanhl, -25.0, 25.0, 2.6},
    {"tanh", elementary::tanh, tanhl, -1.0, 1.0, 2.6},
    {"logistic", elementary::logistic, true_logistic, -700.0, 50.0, 2.3},
    {"logistic", elementary::logistic, true_logistic, -10.0, 10.0, 2.3},
    {"erf", elementary::erf, erfl, -7.0, 7.0, 1.5},
    {"erf", elementary::erf, erfl, -1.1, 1.1, 1.5},
    {"log", elementary::log, logl, 1e-300, 2.0, 1.0},
    {"log", elementary::log, logl, 1.0, 1e300, 1.0},
    {"sin", elementary::sin, sinl, -7.0, 7.0, 0.8},
    {"sin", elementary::sin, sinl, -1e6, 1e6, 0.8},
    {"cos", elementary::cos, cosl, -7.0, 7.0, 0.8},
    {"cos", elementary::cos, cosl, -1e6, 1e6, 0.8},
    {"cos", elementary::cos, cosl, 0.0, 1 << 30, 0.8},
};

struct OfCells {
  const char* name;
  OfNumber one;
  void (*all)(std::span<double> x);
};

const OfCells of_cells[] = {
    {"exp", elementary::exp, elementary::exp},
    {"tanh", elementary::tanh, elementary::tanh},
    {"logistic", elementary::logistic, elementary::logistic},
    {"erf", elementary::erf, elementary::erf},
    {"gelu", elementary::gelu, elementary::gelu},
    {"gelu_by_tanh", elementary::gelu_by_tanh, elementary::gelu_by_tanh},
    {"silu", elementary::silu, elementary::silu},
};

std::vector<double> spread() {
  std::vector<double> x = {0.0,    -0.0, infinity, -infinity, not_a_number, 1e300, -1e300,
                           5e-324, 1.0,  -1.0,     6.0,       710.0,        -746.0};
  for (int i = 0; i < 1000; ++i) x.push_back((i - 500) * 0.0317);
  return x;
}

// The bits of all numbers in one. Of NaN it is all the same which it is.
std::uint64_t mixed(std::span<const double> numbers) {
  std::uint64_t hash = 14695981039346656037u;
  for (const double number : numbers) {
    std::uint64_t bits = 0;
    if (!std::isnan(number)) std::memcpy(&bits, &number, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

std::uint64_t mixed_of(OfNumber f) {
  std::vector<double> x = spread();
  for (double& value : x) value = f(value);
  return mixed(x);
}

double power_of_usual_base(double exponent) { return elementary::power(10000.0, exponent); }

}  // namespace

TEST_CASE("a function of one number is as near the true one as it says") {
  if (std::numeric_limits<long double>::digits < 64) return;  // there is nothing truer to compare with
  for (const Claim& claim : claims) {
    CAPTURE(claim.name);
    const Measured measured = worst_error(claim.f, claim.truth, claim.from, claim.to);
    CAPTURE(measured.where);
    CHECK(measured.worst <= claim.ulps);
  }
}

TEST_CASE("the exponential is as near where it is farthest from a power of two") {
  if (std::numeric_limits<long double>::digits < 64) return;
  double worst = 0.0;
  for (int n = -1021; n < 1023; ++n) {
    const double x = (n + 0.5) * 0.6931471805599453;
    worst = std::max(worst, error_in_ulps(elementary::exp(x), expl(static_cast<long double>(x))));
  }
  CHECK(worst <= 1.0);
}

// By 60-digit arithmetic. The last two lie on both sides of half of the smallest double.
TEST_CASE("the exponential goes on to the end of double precision") {
  CHECK(close(elementary::exp(-708.0) * 1e308, 3.307553003638408, 1e-15));
  CHECK(close(elementary::exp(-709.0) * 1e308, 1.216780750623423, 1e-15));
  CHECK(elementary::exp(-740.0) == 4.2e-322);
  CHECK(elementary::exp(-745.1332191019411) == 5e-324);
  CHECK(elementary::exp(-745.1332191019413) == 0.0);
  CHECK(elementary::exp(709.782712893384) < infinity);
  CHECK(elementary::exp(709.7827128933841) == infinity);
}

TEST_CASE("functions of one number have their limits") {
  CHECK(elementary::exp(0.0) == 1.0);
  CHECK(elementary::exp(-0.0) == 1.0);
  for (const double x : {-745.3, -746.0, -1e6, -1e300, -infinity}) CHECK(elementary::exp(x) == 0.0);
  CHECK(elementary::exp(infinity) == infinity);
  CHECK(elementary::tanh(infinity) == 1.0);
  CHECK(elementary::tanh(-1e300) == -1.0);
  CHECK(std::signbit(elementary::tanh(-0.0)));
  CHECK(elementary::logistic(0.0) == 0.5);
  CHECK(elementary::logistic(-infinity) == 0.0);
  CHECK(elementary::logistic(infinity) == 1.0);
  CHECK(elementary::erf(infinity) == 1.0);
  CHECK(elementary::erf(-7.0) == -1.0);
  CHECK(elementary::log(0.0) == -infinity);
  CHECK(elementary::log(1.0) == 0.0);
  CHECK(elementary::log(infinity) == infinity);
  CHECK(std::isnan(elementary::log(-1.0)));
  CHECK(elementary::sin(0.0) == 0.0);
  CHECK(elementary::cos(0.0) == 1.0);
  for (const OfCells& function : of_cells) CHECK(std::isnan(function.one(not_a_number)));
  for (const OfNumber function : {elementary::log, elementary::sin, elementary::cos}) {
    CHECK(std::isnan(function(not_a_number)));
  }
}

TEST_CASE("a power of a base is rounded as if it was exact") {
  CHECK(elementary::power(10000.0, 0.0) == 1.0);
  CHECK(elementary::power(10000.0, 0.25) == 10.0);
  CHECK(elementary::power(10000.0, 0.5) == 100.0);
  CHECK(elementary::power(2.0, -1074.0) == 5e-324);
  CHECK(elementary::power(1.0, 1e300) == 1.0);
  CHECK(elementary::power(10.0, 400.0) == infinity);
  CHECK(elementary::power(10.0, -400.0) == 0.0);
  if (std::numeric_limits<long double>::digits < 64) return;
  for (int j = 0; j < 2000; ++j) {
    const double exponent = j / 1000.0;
    CAPTURE(exponent);
    CHECK(error_in_ulps(elementary::power(10000.0, exponent), powl(10000.0L, exponent)) <= 0.51);
  }
}

TEST_CASE("a function takes every cell as it takes one number") {
  for (const OfCells& function : of_cells) {
    CAPTURE(function.name);
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, spread().size()}) {
      std::vector<double> one_by_one = spread(), together = one_by_one;
      one_by_one.resize(n);
      together.resize(n);
      for (double& x : one_by_one) x = function.one(x);
      function.all(together);
      CHECK(mixed(together) == mixed(one_by_one));
    }
  }
}

// As GCC and clang compile them, with vectors and without.
TEST_CASE("functions of one number have the same bits on every processor") {
  CHECK(mixed_of(elementary::exp) == 13921152601321793932u);
  CHECK(mixed_of(elementary::tanh) == 9928898829060610582u);
  CHECK(mixed_of(elementary::logistic) == 1394959789640743991u);
  CHECK(mixed_of(elementary::erf) == 16222553078206985368u);
  CHECK(mixed_of(elementary::gelu) == 17905026678132922237u);
  CHECK(mixed_of(elementary::gelu_by_tanh) == 2469899324071424966u);
  CHECK(mixed_of(elementary::silu) == 6257080137082957150u);
  CHECK(mixed_of(elementary::log) == 16931479330273005519u);
  CHECK(mixed_of([](double x) { return std::fabs(x) < 1e9 ? elementary::sin(x) : 0.0; }) == 2825526886297204745u);
  CHECK(mixed_of([](double x) { return std::fabs(x) < 1e9 ? elementary::cos(x) : 0.0; }) == 15515241936325029212u);
  CHECK(mixed_of(power_of_usual_base) == 7458724522170550780u);
}

TEST_CASE("slopes of functions are those of differences") {
  struct Sloped {
    const char* name;
    OfNumber f;
    void (*by_slope)(std::span<double> d, std::span<const double> of);
    bool of_result;
  };
  const Sloped all[] = {
      {"tanh", elementary::tanh, elementary::multiply_by_slope_of_tanh, true},
      {"logistic", elementary::logistic, elementary::multiply_by_slope_of_logistic, true},
      {"gelu", elementary::gelu, elementary::multiply_by_slope_of_gelu, false},
      {"gelu_by_tanh", elementary::gelu_by_tanh, elementary::multiply_by_slope_of_gelu_by_tanh, false},
      {"silu", elementary::silu, elementary::multiply_by_slope_of_silu, false},
  };
  for (const Sloped& one : all) {
    CAPTURE(one.name);
    for (double x = -6.0; x < 6.0; x += 0.37) {
      CAPTURE(x);
      constexpr double step = 1e-5;
      const double difference = (one.f(x + step) - one.f(x - step)) / (2.0 * step);
      double d = 2.0;
      const double of = one.of_result ? one.f(x) : x;
      one.by_slope({&d, 1}, {&of, 1});
      CHECK(close(d, 2.0 * difference, 1e-9));
    }
  }
}

TEST_CASE("the slope of relu is one above zero and zero elsewhere") {
  std::vector<double> d = {1.0, 2.0, 3.0, 4.0};
  const std::vector<double> y = {0.0, 5.0, -0.0, not_a_number};
  elementary::multiply_by_slope_of_relu(d, y);
  CHECK(d[0] == 0.0);
  CHECK(d[1] == 2.0);
  CHECK(d[2] == 0.0);
  CHECK(std::isnan(d[3]));
  std::vector<double> x = {-1.0, 0.0, 2.0, not_a_number, -infinity};
  elementary::relu(x);
  CHECK(x[0] == 0.0);
  CHECK(x[2] == 2.0);
  CHECK(std::isnan(x[3]));
  CHECK(x[4] == 0.0);
}
