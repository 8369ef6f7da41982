#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace attn {

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

}  // namespace attn
