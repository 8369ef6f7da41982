#include "data/files/npy_type.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "data/files/float_types.hpp"

namespace attn {

namespace {

template <class Integer>
double integer(const unsigned char* bytes) {
  return static_cast<double>(static_cast<Integer>(little_endian<std::make_unsigned_t<Integer>>(bytes)));
}

double boolean(const unsigned char* bytes) {
  return bytes[0] == 0 ? 0 : 1;
}

// The x86 extended format: 64 bits of fraction with the leading one written out, 15 of exponent, 1 of sign.
// NumPy pads it to 12 or 16 bytes.
double extended(const unsigned char* bytes) {
  const std::uint64_t fraction = little_endian<std::uint64_t>(bytes);
  const unsigned top = little_endian<std::uint16_t>(bytes + 8);
  const bool negative = (top & 0x8000U) != 0;
  const int exponent = static_cast<int>(top & 0x7FFFU);
  if (exponent == 0x7FFF) {
    return (fraction << 1U) != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : with_sign(std::numeric_limits<double>::infinity(), negative);
  }
  return with_sign(std::ldexp(static_cast<double>(fraction), exponent - 16383 - 63), negative);
}

constexpr NpyType types[] = {
    {"f8", 8, float64_from},
    {"f4", 4, float32_from},
    {"f2", 2, float16_from},
    {"f16", 16, extended},
    {"f12", 12, extended},
    {"i1", 1, integer<std::int8_t>},
    {"i2", 2, integer<std::int16_t>},
    {"i4", 4, integer<std::int32_t>},
    {"i8", 8, integer<std::int64_t>},
    {"u1", 1, integer<std::uint8_t>},
    {"u2", 2, integer<std::uint16_t>},
    {"u4", 4, integer<std::uint32_t>},
    {"u8", 8, integer<std::uint64_t>},
    {"b1", 1, boolean},
};

}  // namespace

const NpyType* find_npy_type(std::string_view code) {
  for (const NpyType& type : types) {
    if (type.code == code) return &type;
  }
  return nullptr;
}

}  // namespace attn
