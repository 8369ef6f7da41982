#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attn {

/// The largest of some numbers, as a list tells them.
struct LargestNumbers {
  std::vector<std::size_t> named;  // places, the largest number first, and of equal ones the first
  std::vector<std::size_t>
      alike;  // the places that follow: all have the same number, and they are too many to be named
};

/// At most `most` are named, and none while another one with the same number is not: those are counted. Numbers are the
/// same that differ by no more than rounding makes, 1e-9 of their size. NaN counts as the smallest.
LargestNumbers largest_numbers(std::span<const double> numbers, std::size_t most);

}  // namespace attn
