#include "school/mistake/amounts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "school/mistake/sizes.hpp"

namespace attn {
namespace {

constexpr int digits_of_amount = 6;

// Whether a person would write it: it has three digits at the most.
bool has_few_digits(double number) {
  constexpr int few = 3;
  constexpr double apart = 1e-5;
  return std::fabs(number - std::stod(fmt::format("{:.{}e}", number, few - 1))) <= apart * std::fabs(number);
}

// ", the square root of 5", of a number that is not short while its square is; else empty.
std::string as_root_in_words(double number) {
  const double square = number * number;
  if (number <= 1.0 || has_few_digits(number) || !has_few_digits(square)) return "";
  return fmt::format(", the square root of {}", written_digits(square, 3));
}

// Of a step that divides by a number, or multiplies by one, what it would have to divide by in all: ": in all a
// division by 1.5"; empty: there is no such step, or that has more than two digits, and so has its square.
std::string division_in_words(const Node& node, double number) {
  const Scalar* const own = node.find(setting::number);
  if (!own || (node.op != &op::divide && node.op != &op::times)) return "";
  const double divisor = node.op == &op::divide ? own->value / number : 1.0 / (own->value * number);
  if (divisor <= 0.0) return "";
  if (has_two_digits(divisor)) return fmt::format(": in all a division by {}", at_two_digits(divisor));
  const double square = divisor * divisor;
  return has_two_digits(square) ? fmt::format(": in all a division by √{}", at_two_digits(square)) : "";
}

}  // namespace

std::string amount_itself(const Node&, double number) { return written_digits(number, digits_of_amount); }

std::string amount_as_factor(const Node& node, double number) {
  if (number == 0.0) return "0 times the right one";
  const double divisor = 1.0 / number;
  std::string words = factor_in_words(node, number);
  if (words.empty() && !has_few_digits(number) && !has_two_digits(divisor)) words = division_in_words(node, number);
  constexpr int digits_of_divisor = 4;
  return fmt::format("{} times the right one{}, so divided by {}{}{}", written_digits(number, digits_of_amount),
                     as_root_in_words(number), written_digits(divisor, digits_of_divisor), as_root_in_words(divisor),
                     words);
}

std::string amount_added(const Node&, double number) {
  if (number == 0.0) return "it is left out";
  if (number == 2.0) return "it is added twice";
  if (number == -1.0) return "it is subtracted";
  return fmt::format("it is added {} times", written_digits(number, digits_of_amount));
}

}  // namespace attn
