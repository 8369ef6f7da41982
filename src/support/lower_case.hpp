#pragma once

#include <string>
#include <string_view>

namespace attn {

/// The text with the letters A to Z in lower case; all others stay.
inline std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

}  // namespace attn
