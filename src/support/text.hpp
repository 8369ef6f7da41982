#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Text as lists, words and numbers.

/// The pieces between separators, empty ones too: "1,,2" has three, and "" has one.
std::vector<std::string_view> pieces_of(std::string_view list, char separator = ',');

/// The words between separators, of which several count as one.
std::vector<std::string> parted(std::string_view text, std::string_view separators);

/// A text without what is at its edges: blanks and ends of lines.
std::string_view trimmed(std::string_view text, std::string_view edges = " \t\r\n");

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words);

/// The text with the letters A to Z in lower case; all others stay.
inline std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

/// The number that the whole of a text is, without blanks or a plus sign; nothing for any other text, and for
/// a number that is too large for its type. A double may be "inf" or "nan".
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// The whole number that a text is, from `least` to `most`. Throws InputError: "WHAT must be …".
std::size_t whole_number(std::string_view what, std::string_view text, std::size_t least, std::size_t most);

}  // namespace attn
