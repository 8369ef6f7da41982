#include "data/files/float_types.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace attn {

double with_sign(double magnitude, bool negative) {
  return negative ? -magnitude : magnitude;
}

double float32_from(const unsigned char* bytes) {
  return static_cast<double>(std::bit_cast<float>(little_endian<std::uint32_t>(bytes)));
}

double float64_from(const unsigned char* bytes) {
  return std::bit_cast<double>(little_endian<std::uint64_t>(bytes));
}

// 1 bit of sign, 5 of exponent, 10 of fraction.
double float16_from(const unsigned char* bytes) {
  const unsigned bits = little_endian<std::uint16_t>(bytes);
  const bool negative = (bits & 0x8000U) != 0;
  const int exponent = static_cast<int>(bits >> 10U & 0x1FU);
  const int fraction = static_cast<int>(bits & 0x3FFU);
  if (exponent == 0x1F) {
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : with_sign(std::numeric_limits<double>::infinity(), negative);
  }
  if (exponent == 0) return with_sign(std::ldexp(fraction, -24), negative);
  return with_sign(std::ldexp(fraction + 1024, exponent - 25), negative);
}

// The upper half of a float32.
double bfloat16_from(const unsigned char* bytes) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{little_endian<std::uint16_t>(bytes)} << 16U));
}

}  // namespace attn
