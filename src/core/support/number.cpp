#include "core/support/number.hpp"

#include <fmt/compile.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/support/text.hpp"

namespace attn {
namespace {

constexpr double tie_tolerance = 5e-13;
constexpr double largest_exact = 1e11;  // up to here the rounded number has fewer than 12 digits
constexpr std::array powers_of_ten = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                      1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
constexpr int most_decimals = static_cast<int>(powers_of_ten.size()) - 1;

// "00" to "99", one after the other.
constexpr auto pairs_of_digits = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t digit = i % 2 == 0 ? i / 20 : i / 2 % 10;
    pairs[i] = static_cast<char>('0' + digit);
  }
  return pairs;
}();

constexpr auto whole_powers_of_ten = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

// 0 has one. Without a branch, which would be guessed wrong for every other number: 1233 / 4096 is nearly
// log10(2).
std::size_t count_of_digits(std::uint64_t number) {
  const auto guess = static_cast<std::size_t>(std::bit_width(number | 1) * 1233 >> 12);
  return guess + ((number | 1) >= whole_powers_of_ten[guess] ? 1 : 0);
}

// The digits that are written of a number with so many decimals: at least one stands before the point.
std::size_t digits_with_point(std::uint64_t number, std::size_t decimals) {
  std::size_t count = decimals + 1;
  while (number >= whole_powers_of_ten[count]) ++count;
  return count;
}

// The text of a number, made around its point in one place, so that a string grows once for it.
class NumberText {
 public:
  // The last `count` of a number's digits, at most 17, with zeros before them, and a point before `decimals`.
  NumberText(std::uint64_t number, std::size_t count, std::size_t decimals) {
    write_eight(digits_end() - 8, number % eight_places);
    if (count > 8) {
      write_eight(digits_end() - 16, number / eight_places % eight_places);
      std::memset(digits_end() - 24, '0', 8);
      digits_end()[-17] = static_cast<char>('0' + number / eight_places / eight_places);
    }
    begin_ = digits_end() - count;
    if (decimals == 0) return;
    --begin_;
    for (char* place = begin_; place < digits_end() - decimals - 1; ++place) *place = place[1];
    digits_end()[-static_cast<std::ptrdiff_t>(decimals) - 1] = '.';
  }

  // Without a branch: signs cannot be guessed.
  void put_minus_if(bool is_negative) {
    begin_[-1] = '-';
    begin_ -= is_negative ? 1 : 0;
  }
  void put_behind(char c) { *end_++ = c; }
  void append_to(std::string& out) const { out.append(begin_, static_cast<std::size_t>(end_ - begin_)); }

 private:
  static constexpr std::uint64_t eight_places = 100'000'000;
  static constexpr std::size_t most_digits = 24, most_around = 20;

  static void write_pair(char* out, std::uint32_t pair) { std::memcpy(out, pairs_of_digits.data() + 2 * pair, 2); }
  // What one pair needs does not wait for another, as it does where a number is divided again and again.
  static void write_eight(char* out, std::uint64_t number) {
    const auto n = static_cast<std::uint32_t>(number);
    const std::uint32_t high = n / 10'000, low = n % 10'000;
    write_pair(out, high / 100), write_pair(out + 2, high % 100);
    write_pair(out + 4, low / 100), write_pair(out + 6, low % 100);
  }

  char* digits_end() { return text_ + most_around + most_digits; }

  char text_[most_around + most_digits + most_around];
  char* begin_;
  char* end_ = digits_end();
};

// |value| · 10^decimals, rounded. Only when it has fewer than 12 digits.
struct Rounded {
  bool fits = false;
  std::uint64_t digits = 0;
};

Rounded rounded(double value, int decimals) {
  if (decimals > most_decimals) return {};
  const double magnitude = std::fabs(value) * powers_of_ten[static_cast<std::size_t>(decimals)];
  if (!(magnitude < largest_exact)) return {};
  return {true, static_cast<std::uint64_t>(magnitude + magnitude * tie_tolerance + 0.5)};
}

bool has_minus(double value, Rounded number) { return (value < 0.0) & (number.digits != 0); }

void append_text(std::string& out, double value, int decimals) {
  if (std::isnan(value)) {
    out += "nan";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:.{}f}"), value, decimals);
  }
}

// Whether `decimals` digits show a value to within a part of its own size, for as long as there are digits
// enough to tell.
bool is_within(double value, int decimals, double part) {
  if (!std::isfinite(value)) return true;
  if (decimals > most_decimals) return false;
  const double magnitude = std::fabs(value) * powers_of_ten[static_cast<std::size_t>(decimals)];
  const double tolerance = magnitude < largest_exact ? magnitude * part : 0.0;
  return std::fabs(magnitude - std::nearbyint(magnitude)) <= tolerance;
}

}  // namespace

// The digits are those that fmt chooses, and so is the form; what fmt writes itself takes twice as long.
void append_exact(std::string& out, double value) {
  if (!std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
    return;
  }
  const auto [digits, exponent] = fmt::detail::dragonbox::to_decimal(std::fabs(value));
  const std::size_t count = count_of_digits(digits);
  const int power = static_cast<int>(count) + exponent - 1;  // of the first digit
  constexpr int least_power = -4, largest_power = 15;
  const bool has_power = power < least_power || power > largest_power;
  const std::size_t decimals = has_power ? count - 1 : static_cast<std::size_t>(std::max(-exponent, 0));
  NumberText text(digits, std::max(count, decimals + 1), decimals);
  text.put_minus_if(std::signbit(value));
  if (has_power) {
    text.put_behind('e');
    text.put_behind(power < 0 ? '-' : '+');
    const int size = std::abs(power);
    if (size >= 100) text.put_behind(static_cast<char>('0' + size / 100));
    text.put_behind(static_cast<char>('0' + size / 10 % 10));
    text.put_behind(static_cast<char>('0' + size % 10));
  } else {
    for (int i = 0; i < exponent; ++i) text.put_behind('0');
  }
  text.append_to(out);
}

void append_fixed(std::string& out, double value, int decimals) {
  const Rounded number = rounded(value, decimals);
  if (!number.fits) return append_text(out, value, decimals);
  const auto places = static_cast<std::size_t>(decimals);
  NumberText text(number.digits, digits_with_point(number.digits, places), places);
  text.put_minus_if(has_minus(value, number));
  text.append_to(out);
}

std::string written_fixed(double value, int decimals) {
  std::string text;
  append_fixed(text, value, decimals);
  return text;
}

std::string written_digits(double value, int digits) {
  constexpr int most_tied = 11;                       // with more digits the tolerance would be seen
  const double tied = value + value * tie_tolerance;  // infinite beside the largest double
  return fmt::format("{:.{}g}", digits > most_tied || std::isinf(tied) ? value : tied, digits);
}

int fixed_width(double value, int decimals) {
  const Rounded number = rounded(value, decimals);
  if (!number.fits) {
    std::string text;
    append_text(text, value, decimals);
    return static_cast<int>(text.size());
  }
  const auto places = static_cast<std::size_t>(decimals);
  const std::size_t digits = digits_with_point(number.digits, places);
  return static_cast<int>(digits + (decimals > 0 ? 1 : 0) + (has_minus(value, number) ? 1 : 0));
}

bool is_exact(double value, int decimals) { return is_within(value, decimals, tie_tolerance); }

int decimals_for(std::span<const double> values, int most) {
  // So many decimals are asked for in order to see the last bits.
  constexpr int all_digits = 12;
  const double part = most < all_digits ? tie_tolerance : std::numeric_limits<double>::epsilon();
  int decimals = 0;
  for (const double value : values) {
    while (decimals < most && !is_within(value, decimals, part)) ++decimals;
    if (decimals == most) break;
  }
  return decimals;
}

void append_scientific(std::string& out, double value, int decimals) {
  if (!std::isfinite(value)) return append_text(out, value, decimals);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:.{}e}"), value == 0.0 ? 0.0 : value, decimals);
}

bool is_rounding(double difference) {
  constexpr double most = 1e-9;
  return difference < most;
}

std::string written_difference(double difference) {
  return is_rounding(difference) ? "less than 1e-9" : written_digits(difference, 3);
}

std::optional<std::size_t> preferred_key(std::span<const double> weights, int decimals) {
  if (weights.empty()) return std::nullopt;
  const auto best = static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());
  if (!(weights[best] > 0.0)) return std::nullopt;  // every key is masked
  const std::string most = written_fixed(weights[best], decimals);
  const double last_digit = std::pow(10.0, -decimals);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const bool near = j != best && weights[best] - weights[j] <= last_digit;
    if (near && written_fixed(weights[j], decimals) == most) return std::nullopt;
  }
  return best;
}

std::string with_commas(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string count_of(std::size_t n, std::string_view noun) { return fmt::format("{0} {1}{0:|s}", Count{n}, noun); }

std::string count_of(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, Count{n}.is_one() ? one : many);
}

std::string percent(double share) {
  constexpr double least = 0.0005;  // that is not rounded to 0
  return share > 0.0 && share < least ? "< 0.1\u00A0%" : fmt::format("{}\u00A0%", written_fixed(100.0 * share, 1));
}

}  // namespace attn

fmt::appender fmt::formatter<attn::Count>::format(attn::Count count, format_context& context) const {
  const std::string_view chosen = attn::split_at(words, '|')[count.is_one() ? 0 : 1];
  return format_to(context.out(), "{}", join(attn::split_at(chosen, '#'), std::to_string(count.number)));
}
