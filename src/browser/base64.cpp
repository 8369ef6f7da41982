#include "browser/base64.hpp"

#include <cstdint>
#include <string_view>

namespace attn {

std::string in_base64(std::span<const std::byte> bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr int last_shift = 18, bits = 6;
  constexpr std::uint32_t six_bits = 63;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      three = three << 8 | (j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[j]) : 0U);
    for (int shift = last_shift; shift >= 0; shift -= bits) text += letters[three >> shift & six_bits];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

}  // namespace attn
