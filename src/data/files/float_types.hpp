#pragma once

#include <cstddef>
#include <cstdint>

namespace attn {

/// The whole number in bytes of which the lowest comes first.
template <class Word>
Word little_endian(const unsigned char* bytes) {
  Word value = 0;
  for (std::size_t i = sizeof(Word); i-- > 0;) {
    value = static_cast<Word>(static_cast<std::uint64_t>(value) << 8U | bytes[i]);
  }
  return value;
}

// The floating-point types that files hold, lowest byte first, as doubles: every value exactly, infinities
// and NaN too.
double float64_from(const unsigned char* bytes);
double float32_from(const unsigned char* bytes);
double float16_from(const unsigned char* bytes);
double bfloat16_from(const unsigned char* bytes);

/// The magnitude, or its negative.
double with_sign(double magnitude, bool negative);

}  // namespace attn
