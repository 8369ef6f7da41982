#pragma once

#include <string>

namespace attn {

/// A number as sentences and lists have it, to so many digits: ∞ and −∞ with their signs, NaN without one.
std::string written_value(double number, int digits = 4);

/// Two numbers, as they are written beside each other.
struct NumberPair {
  std::string one, other;
};

/// Both to so many digits, or to as many more as tell them apart: two numbers that differ never look equal.
NumberPair written_apart(double one, double other, int digits = 4);

}  // namespace attn
