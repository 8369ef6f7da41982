#include "support/number.hpp"

#include <fmt/compile.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace attn {
namespace {

constexpr double tie_tolerance = 5e-13;
constexpr double largest_exact = 1e11;  // up to here the rounded number has fewer than 12 digits
constexpr std::array powers_of_ten = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                      1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
constexpr int most_decimals = static_cast<int>(powers_of_ten.size()) - 1;

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

void append_exact(std::string& out, double value) {
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
}

void append_fixed(std::string& out, double value, int decimals) {
  const Rounded number = rounded(value, decimals);
  if (!number.fits) return append_text(out, value, decimals);
  char buffer[32];
  char* const end = buffer + sizeof buffer;
  char* begin = end;
  std::uint64_t rest = number.digits;
  for (int i = 0; i < decimals; ++i, rest /= 10) *--begin = static_cast<char>('0' + rest % 10);
  if (decimals > 0) *--begin = '.';
  do {
    *--begin = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0.0 && number.digits != 0) *--begin = '-';
  out.append(begin, end);
}

std::string written_fixed(double value, int decimals) {
  std::string text;
  append_fixed(text, value, decimals);
  return text;
}

std::string written_digits(double value, int digits) {
  return fmt::format("{:.{}g}", value + value * tie_tolerance, digits);
}

int fixed_width(double value, int decimals) {
  const Rounded number = rounded(value, decimals);
  if (!number.fits) {
    std::string text;
    append_text(text, value, decimals);
    return static_cast<int>(text.size());
  }
  int width = 1;
  const auto places = static_cast<std::size_t>(decimals);
  for (std::uint64_t limit = static_cast<std::uint64_t>(powers_of_ten[places]) * 10; number.digits >= limit;
       limit *= 10) {
    ++width;
  }
  return width + (decimals > 0 ? decimals + 1 : 0) + (value < 0.0 && number.digits != 0 ? 1 : 0);
}

bool is_exact(double value, int decimals) {
  return is_within(value, decimals, tie_tolerance);
}

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

std::string with_commas(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string count_of(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace attn
