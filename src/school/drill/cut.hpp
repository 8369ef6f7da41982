#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/support/text.hpp"

namespace attn {

/// What stands before and after the first of these signs; nothing after it where there is none.
struct Cut {
  std::string_view before;
  std::optional<std::string_view> after;
};

inline Cut cut_at(std::string_view text, std::string_view sign) {
  const std::size_t at = text.find(sign);
  if (at == std::string_view::npos) return {trimmed(text), std::nullopt};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + sign.size()))};
}

/// What stands after a word that the text begins with.
inline std::optional<std::string_view> after_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  return trimmed(text.substr(word.size()));
}

}  // namespace attn
