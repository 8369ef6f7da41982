#include "core/support/largest.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace attn {

LargestNumbers largest_numbers(std::span<const double> numbers, std::size_t most) {
  constexpr double rounding = 1e-9;
  const auto size = [&](std::size_t i) {
    return std::isnan(numbers[i]) ? -std::numeric_limits<double>::infinity() : numbers[i];
  };
  const auto is_before = [&](std::size_t a, std::size_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto after = [&](std::size_t count) {
    return order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), count));
  };
  std::partial_sort(order.begin(), after(most + 1), order.end(), is_before);
  LargestNumbers found;
  found.named.assign(order.begin(), after(most));
  if (most == 0 || order.size() <= most) return found;
  const double next = size(order[most]);
  const auto is_next = [&](std::size_t i) {
    if (std::isinf(next)) return size(i) == next;  // from which everything finite is infinitely far
    return std::fabs(size(i) - next) <= rounding * std::fabs(next);
  };
  if (!is_next(order[most - 1])) return found;
  std::erase_if(found.named, is_next);
  std::sort(order.begin(), order.end());
  std::ranges::copy_if(order, std::back_inserter(found.alike), is_next);
  return found;
}

}  // namespace attn
