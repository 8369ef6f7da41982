#include "core/support/printable.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace attn {

DecodedCharacter first_character(std::string_view text) {
  utf8proc_int32_t point = -1;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &point);
  if (size <= 0) return {-1, 1};
  return {point, static_cast<std::size_t>(size)};
}

namespace {

// Whether what follows may be shown elsewhere than it stands: the marks, embeddings, overrides and isolates
// of the Unicode Bidirectional Algorithm, which show one text as another.
bool turns_direction(utf8proc_int32_t point) {
  constexpr utf8proc_int32_t arabic_letter_mark = 0x061C;
  return point == arabic_letter_mark || (point >= 0x200E && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

// What no terminal shows as a character: a command, an end of line, a turn of direction, or no UTF-8.
bool is_hidden(utf8proc_int32_t point) {
  if (point < 0 || turns_direction(point)) return true;
  const utf8proc_category_t category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [point, bytes] = first_character(text);
    result += is_hidden(point) ? "\uFFFD" : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

std::string printable_lines(std::string_view lines) {
  std::string result;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find_first_of("\t\n"), lines.size());
    result += printable(lines.substr(0, end)) + std::string(lines.substr(end, 1));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return result;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto [point, bytes] = first_character(text);
    if (is_hidden(point)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace attn
