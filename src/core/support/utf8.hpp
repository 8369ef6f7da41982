#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Texts as UTF-8.

/// Whether a byte goes on with a character that began before it.
inline bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// A character of a text, and how many bytes it takes there.
struct CodePoint {
  char32_t code;
  std::size_t size;
};

/// The character that begins at a byte of a text that is UTF-8.
CodePoint code_point_at(std::string_view text, std::size_t at);
void append_code_point(std::string& text, char32_t code);
std::vector<char32_t> code_points_of(std::string_view text);
/// The first byte that is no UTF-8; nothing: all of it is.
std::optional<std::size_t> first_not_utf8(std::string_view text);
/// Throws InputError, where a text is not UTF-8.
void require_utf8(std::string_view text, std::string_view what);
/// The text with U+FFFD in place of what is not UTF-8.
std::string with_replacements(std::string_view bytes);

}  // namespace attn
