#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/support/largest.hpp"
#include "core/support/number.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string fixed(double value, int decimals) {
  std::string text;
  append_fixed(text, value, decimals);
  return text;
}

std::string exact(double value) {
  std::string text;
  append_exact(text, value);
  return text;
}

std::string scientific(double value, int decimals) {
  std::string text;
  append_scientific(text, value, decimals);
  return text;
}

// n / 10^decimals, written digit by digit.
std::string written(std::int64_t n, int decimals) {
  std::string digits = std::to_string(std::abs(n));
  const auto places = static_cast<std::size_t>(decimals);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - places, ".");
  return (n < 0 ? "-" : "") + digits;
}

double above(double value) { return std::nextafter(value, infinity); }
double below(double value) { return std::nextafter(value, -infinity); }

// Numbers of every size: any bits, and the moderate ones that tables are made of.
template <class Look>
void for_many_numbers(const Look& look) {
  std::mt19937_64 generator(1);
  for (int i = 0; i < 1'500; ++i) {
    const std::uint64_t bits = generator();
    look(std::bit_cast<double>(bits));
    const double size = std::pow(10.0, static_cast<int>(bits % 30) - 15);
    look(static_cast<double>(static_cast<std::int64_t>(generator() >> 11)) * 0x1p-53 * size);
    look(-std::round(static_cast<double>(generator() % 1000)) * size);
  }
  for (const double value : {0.0, -0.0, 9.995, 99.5, 999.5, 1e11, -1e11, 99999999999.5, infinity, not_a_number}) {
    look(value), look(-value), look(above(value)), look(below(value));
  }
}

}  // namespace

TEST_CASE("a tie is rounded away from zero, and so is its neighbor one ulp below") {
  for (const double tie : {0.125, above(0.125), below(0.125)}) {
    CHECK(fixed(tie, 2) == "0.13");
    CHECK(fixed(-tie, 2) == "-0.13");
  }
  CHECK(fixed(0.5, 0) == "1");
  CHECK(fixed(2.5, 0) == "3");
  CHECK(fixed(1.005, 2) == "1.01");  // the double is 1.00499999999999989…
  CHECK(fixed(0.12499999, 2) == "0.12");
  CHECK(fixed(0.1250001, 2) == "0.13");
}

TEST_CASE("rounding carries over to the left") {
  CHECK(fixed(0.995, 2) == "1.00");
  CHECK(fixed(999.9999, 3) == "1000.000");
  CHECK(fixed(-9.96, 1) == "-10.0");
}

TEST_CASE("zero has no sign") {
  CHECK(fixed(-0.00001, 4) == "0.0000");
  CHECK(fixed(-0.0, 2) == "0.00");
  CHECK(fixed(-0.4, 0) == "0");
  CHECK(fixed(-0.00005, 4) == "-0.0001");
}

TEST_CASE("large numbers are written in full, and what is no number by its name") {
  CHECK(fixed(1e15, 2) == "1000000000000000.00");
  CHECK(fixed(-123456789012.25, 1) == "-123456789012.2");
  CHECK(fixed(0x1p80, 0) == "1208925819614629174706176");
  CHECK(fixed(99999999999.0, 0) == "99999999999");
  CHECK(fixed(not_a_number, 3) == "nan");
  CHECK(fixed(-not_a_number, 3) == "nan");
  CHECK(fixed(infinity, 3) == "inf");
  CHECK(fixed(-infinity, 0) == "-inf");
}

TEST_CASE("numbers of few digits are written as they are, and halves of their last digit rounded up") {
  CHECK(rc::check("n / 10^d is written with the digits of n", [] {
    const auto n = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'001);
    const int decimals = *rc::gen::inRange(0, 9);
    const double value = static_cast<double>(n) / std::pow(10.0, decimals);
    RC_ASSERT(fixed(value, decimals) == written(n, decimals));
    RC_ASSERT(fixed(above(value), decimals) == written(n, decimals));
    RC_ASSERT(fixed(below(value), decimals) == written(n, decimals));
  }));
  CHECK(rc::check("(n + ½) / 10^d is written with the digits of n + 1, and a little less with those of n", [] {
    const auto n = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
    const int decimals = *rc::gen::inRange(0, 9);
    const double tie = static_cast<double>(10 * n + 5) / std::pow(10.0, decimals + 1);
    for (const double value : {tie, above(tie), below(tie)}) {
      RC_ASSERT(fixed(value, decimals) == written(n + 1, decimals));
      RC_ASSERT(fixed(-value, decimals) == written(-(n + 1), decimals));
    }
    RC_ASSERT(fixed(tie * (1 - 1e-11), decimals) == written(n, decimals));
  }));
}

TEST_CASE("the width that is foretold is the width that is written") {
  std::size_t wrong = 0;
  std::string first;
  for_many_numbers([&](double value) {
    for (int decimals = 0; decimals <= 18; ++decimals) {
      if (fixed_width(value, decimals) == static_cast<int>(fixed(value, decimals).size())) continue;
      if (wrong++ == 0) first = exact(value) + " at " + std::to_string(decimals);
    }
  });
  CAPTURE(first);
  CHECK(wrong == 0);
}

TEST_CASE("fixed digits are never farther from the number than half of the last one") {
  std::size_t wrong = 0;
  std::string first;
  for_many_numbers([&](double value) {
    if (!std::isfinite(value)) return;
    for (int decimals = 0; decimals <= 15; decimals += 5) {
      const double shown = std::strtod(fixed(value, decimals).c_str(), nullptr);
      const double half = 0.5 * std::pow(10.0, -decimals);
      if (std::fabs(shown - value) <= half + std::fabs(value) * 1e-12) continue;
      if (wrong++ == 0) first = exact(value) + " at " + std::to_string(decimals);
    }
  });
  CAPTURE(first);
  CHECK(wrong == 0);
}

TEST_CASE("a number of more digits than a tie has is not rounded up to one") {
  CHECK(written_digits(1.23456789012345, 14) == "1.2345678901235");
  CHECK(written_digits(1.23456789012349, 11) == "1.2345678901");
}

TEST_CASE("the largest numbers are written as numbers") {
  constexpr double largest = std::numeric_limits<double>::max();
  CHECK(written_digits(largest, 5) == "1.7977e+308");
  CHECK(written_digits(-largest, 3) == "-1.8e+308");
  CHECK(written_digits(-infinity, 3) == "-inf");
}

TEST_CASE("as many decimals are shown as the numbers need, and no more than allowed") {
  const auto needed = [](std::vector<double> values, int most = 4) { return decimals_for(values, most); };
  CHECK(needed({}) == 0);
  CHECK(needed({1, -20, 0}) == 0);
  CHECK(needed({0.5, 3, 0.25}) == 2);
  CHECK(needed({0.25, 0.5}) == 2);
  CHECK(needed({0.1 + 0.2}) == 1);  // 0.30000000000000004 is 0.3 to 12 digits
  CHECK(needed({1.0 / 3}) == 4);
  CHECK(needed({1.0 / 3}, 0) == 0);
  CHECK(needed({0.0625}) == 4);
  CHECK(needed({0.0625}, 3) == 3);
  CHECK(needed({infinity, not_a_number, -infinity, 2}) == 0);
  CHECK(is_exact(0.125, 3));
  CHECK_FALSE(is_exact(0.125, 2));
  CHECK_FALSE(is_exact(1e-9, 4));
}

TEST_CASE("the shortest decimal is written as fmt writes it, whatever its size") {
  int wrong = 0;
  std::string first;
  const auto look = [&](double value) {
    if (exact(value) == fmt::format("{}", value)) return;
    if (wrong++ == 0) first = exact(value) + " instead of " + fmt::format("{}", value);
  };
  for_many_numbers(look);
  for (int power = -330; power < 310; ++power) {
    for (const double digits : {1.0, 9.0, 1.25, 9.99, 1.234567890123456, 9.876543210987654}) {
      look(digits * std::pow(10.0, power)), look(-digits * std::pow(10.0, power));
    }
  }
  CHECK_MESSAGE(wrong == 0, wrong << " differ, such as " << first);
}

TEST_CASE("an exact number reads back as the same double, and as no shorter one") {
  CHECK(exact(0.1) == "0.1");
  CHECK(exact(-1.5) == "-1.5");
  CHECK(exact(infinity) == "inf");
  std::size_t wrong = 0;
  for_many_numbers([&](double value) {
    const double back = std::strtod(exact(value).c_str(), nullptr);
    const bool equal = std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value);
    if (!equal && !std::isnan(value)) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(rc::check("an exact number reads back as the same double",
                  [](double value) { RC_ASSERT(std::strtod(exact(value).c_str(), nullptr) == value); }));
}

TEST_CASE("a scientific number has one digit before its point") {
  CHECK(scientific(1.25e30, 4) == "1.2500e+30");
  CHECK(scientific(-0.00375, 2) == "-3.75e-03");
  CHECK(scientific(0.0, 1) == "0.0e+00");
  CHECK(scientific(-infinity, 4) == "-inf");
  CHECK(scientific(not_a_number, 4) == "nan");
}

TEST_CASE("a difference that rounding alone makes is the same on every processor") {
  CHECK(written_difference(0.0) == "less than 1e-9");
  CHECK(written_difference(2.2e-16) == "less than 1e-9");
  CHECK(written_difference(0.3249) == "0.325");
  CHECK(written_difference(1e-6) == "1e-06");
}

TEST_CASE("words agree with their count") {
  CHECK(fmt::format("{:# cell differs|# cells differ}", Count{1}) == "1 cell differs");
  CHECK(fmt::format("{:# cell differs|# cells differ}", Count{3}) == "3 cells differ");
  CHECK(fmt::format("{:is|are}, {:is|are}, {:is|are}", Count{0}, Count{1}, Count{2}) == "are, is, are");
  CHECK(fmt::format("{0} of {1} row{0:|s}", Count{1}, Count{2000}) == "1 of 2000 row");
  CHECK(fmt::format("{:one is|# of # are} left", Count{4}) == "4 of 4 are left");
  CHECK(count_of(1, "cell") + ", " + count_of(0, "cell") == "1 cell, 0 cells");
  CHECK(count_of(1, "query", "queries") + ", " + count_of(2, "query", "queries") == "1 query, 2 queries");
  // Without words for one and words for others, or with more of them.
  for (const char* malformed : {"{:cells}", "{:a|b|c}", "{:>5}"})
    CHECK_THROWS_AS(fmt::format(fmt::runtime(malformed), Count{3}), fmt::format_error);
}

TEST_CASE("of the largest numbers infinite ones are the same as no finite one") {
  using Places = std::vector<std::size_t>;
  const std::vector<double> two_are_finite = {5.0, -infinity, 4.0, -infinity};
  const LargestNumbers found = largest_numbers(two_are_finite, 3);
  CHECK(found.named == Places{0, 2});
  CHECK(found.alike == Places{1, 3});
  const std::vector<double> two_are_infinite = {1.0, infinity, infinity, 2.0};
  CHECK(largest_numbers(two_are_infinite, 1).alike == Places{1, 2});
  CHECK(largest_numbers(two_are_infinite, 2).named == Places{1, 2});
}
