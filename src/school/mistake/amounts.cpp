#include "school/mistake/amounts.hpp"

#include <fmt/format.h>

#include "core/support/number.hpp"
#include "school/mistake/sizes.hpp"

namespace attn {
namespace {

constexpr int digits_of_amount = 6;

}  // namespace

std::string amount_itself(const Node&, double number) { return written_digits(number, digits_of_amount); }

std::string amount_as_factor(const Node& node, double number) {
  return fmt::format("{} times the right one{}", written_digits(number, digits_of_amount),
                     factor_in_words(node, number));
}

std::string amount_added(const Node&, double number) {
  if (number == 0.0) return "it is left out";
  if (number == 2.0) return "it is added twice";
  if (number == -1.0) return "it is subtracted";
  return fmt::format("it is added {} times", written_digits(number, digits_of_amount));
}

}  // namespace attn
