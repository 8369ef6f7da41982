#include "lesson/typed_digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/number.hpp"

namespace attn {
namespace {

using Sentence = std::optional<std::string>;

bool is_whole(double number) {
  return std::fabs(number) < 1e15 && std::nearbyint(number) == number;
}
std::string digits_of(double number, int decimals) {
  std::string digits = written_fixed(std::fabs(number), decimals);
  std::erase(digits, '.');
  return digits;
}

}  // namespace

int decimals_wanted(const SolvedQuestion& solved) {
  const double tolerance = tolerance_for(solved);
  int decimals = 0;
  while (decimals < 6 && 0.5 * std::pow(10.0, -decimals) > tolerance * (1 + 1e-9)) ++decimals;
  return decimals;
}

bool says_little(const TypedAnswer& typed) {
  if (!typed.decimals) return false;
  const std::string digits = digits_of(std::get<double>(typed.quantity), *typed.decimals);
  const std::size_t first = digits.find_first_not_of('0');
  // Zeros behind the point were typed to say something.
  const std::size_t last = *typed.decimals > 0 ? digits.size() - 1 : digits.find_last_not_of('0');
  return first == std::string::npos || first == last;
}

bool is_small_whole(const TypedAnswer& typed) {
  return typed.decimals == 0 && std::fabs(std::get<double>(typed.quantity)) < 100.0;
}

bool tells(const TypedAnswer& typed, double number, double closeness) {
  const double next_to_nothing = closeness > 0.0 ? 0.001 : 1e-9;
  const double off = std::fabs(number - std::get<double>(typed.quantity)), size = std::fabs(number);
  return off <= precision_of(typed) &&
         (off <= next_to_nothing * size || precision_of(typed) <= closeness * size);
}

namespace {

bool is_alike(double answer, double number) {
  constexpr double rough = 0.25;
  return std::fabs(number - answer) <= rough * std::fabs(answer) ||
         (number == 0.0 && std::fabs(answer) < 0.1);
}

}  // namespace

Sentence rounded_too_far(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const double answer = std::get<double>(solved.answer), number = std::get<double>(typed.quantity);
  const int wanted = decimals_wanted(solved);
  if (!typed.decimals || *typed.decimals >= wanted || !is_alike(answer, number) ||
      std::fabs(number - answer) > precision_of(typed))
    return std::nullopt;
  return fmt::format("This is rounded too far. Give {} after the point.",
                     count_of(static_cast<std::size_t>(wanted), "digit"));
}

Sentence about_digits(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const double answer = std::get<double>(solved.answer), number = std::get<double>(typed.quantity);
  const double off = std::fabs(number - answer);
  constexpr double near = 0.01;
  const bool are_whole = is_whole(answer) && is_whole(number);  // no rounding leads from one to the other
  if (typed.decimals && *typed.decimals <= 12) {
    const double unit = std::pow(10.0, -*typed.decimals);
    if (is_alike(answer, number) && number != 0.0 && *typed.decimals >= decimals_wanted(solved) &&
        std::fabs(number - std::trunc(answer / unit) * unit) < 1e-9 * unit)
      return "The last digit was cut off, not rounded: the next one is 5 or more.";
    const std::string a = digits_of(answer, *typed.decimals), b = digits_of(number, *typed.decimals);
    if (a.size() == b.size() && (answer < 0) == (number < 0)) {
      const auto [here, there] = std::ranges::mismatch(a, b);
      const auto at = static_cast<std::size_t>(here - a.begin());
      if (at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
          a.substr(at + 2) == b.substr(at + 2))
        return "Two digits are exchanged.";
    }
  }
  if (off <= near * std::fabs(answer) && !are_whole)
    return "This is close, within 1 %. If the steps are right, round only at the end.";
  return std::nullopt;
}

std::string about_size(double answer, double typed) {
  if (answer != 0.0 && typed != 0.0 && (answer < 0) != (typed < 0))
    return answer < 0 ? "The answer is negative." : "The answer is positive.";
  const double a = std::fabs(answer), b = std::fabs(typed);
  const std::string_view where = b > a ? "large" : "small";
  const bool far = std::fmax(a, b) > 3 * std::fmin(a, b);
  return fmt::format("{} {} {}.", answer < 0 ? "Without its sign, this is" : "This is",
                     far ? "far too" : "too", where);
}

}  // namespace attn
