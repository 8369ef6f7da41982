#include "core/op/kinks.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rows.hpp"
#include "core/op/operations.hpp"

namespace attn {
namespace {

bool changes_a_sign(std::span<const double> before, std::span<const double> after) {
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (before[k] != after[k] && (before[k] > 0.0) != (after[k] > 0.0)) return true;
  }
  return false;
}

double largest_size(std::span<const double> row) {
  double largest = 0.0;
  for (const double number : row) largest = std::max(largest, std::fabs(number));
  return largest;
}

// The line meets 0 where one of its ends is 0, or where they point in opposite directions.
bool meets_zeros(std::span<const double> before, std::span<const double> after) {
  constexpr double rounding = 1e-12;
  if (std::ranges::equal(before, after)) return false;
  const double one = largest_size(before), other = largest_size(after);
  if (one == 0.0 || other == 0.0) return true;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (std::fabs(before[k] / one + after[k] / other) > rounding) return false;
  }
  return true;
}

bool meets_sum_of_zero(std::span<const double> before, std::span<const double> after) {
  if (std::ranges::equal(before, after)) return false;
  const double one = sum_of(before), other = sum_of(after);
  return one == 0.0 || other == 0.0 || (one > 0.0) != (other > 0.0);
}

// Which numbers are the largest: one, or several that are equal.
bool changes_the_largest(std::span<const double> before, std::span<const double> after) {
  const double one = before[place_of_largest(before)], other = after[place_of_largest(after)];
  for (std::size_t k = 0; k < before.size(); ++k) {
    if ((before[k] == one) != (after[k] == other)) return true;
  }
  return false;
}

constexpr Kink all_kinks[] = {
    {&op::relu, changes_a_sign,
     "a step would cross a kink of ReLU, where the slope changes from 0 to 1. "
     "At the kink itself the gradient takes the slope 0."},
    {&op::unit_rows, meets_zeros,
     "a step would cross or leave a vector of zeros, which has no direction. "
     "The division of a vector by its length has no derivative there, and the gradient takes 0 for it."},
    {&op::normalize, meets_sum_of_zero,
     "a step would cross or leave a row whose sum is 0, by which nothing is divided. "
     "The division of a row by its sum has no derivative there, and the gradient takes 0 for it."},
    {&op::largest, changes_the_largest,
     "a step would change which number of a row is the largest, and the weight jumps. "
     "The weight has no derivative there, and the gradient takes 0 for it."},
};

}  // namespace

std::span<const Kink> kinks() { return all_kinks; }

const Kink* kink_of(const Op& op) {
  const auto found = std::ranges::find(all_kinks, &op, &Kink::op);
  return found == std::end(all_kinks) ? nullptr : &*found;
}

}  // namespace attn
