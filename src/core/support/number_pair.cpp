#include "core/support/number_pair.hpp"

#include <cmath>
#include <limits>

#include "core/support/number.hpp"

namespace attn {

std::string written_value(double number, int digits) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0.0 ? "−∞" : "∞";
  return written_digits(number, digits);
}

NumberPair written_apart(double one, double other, int digits) {
  NumberPair both{written_value(one, digits), written_value(other, digits)};
  for (int more = digits + 1;
       both.one == both.other && one != other && more <= std::numeric_limits<double>::max_digits10; ++more)
    both = {written_value(one, more), written_value(other, more)};
  return both;
}

}  // namespace attn
