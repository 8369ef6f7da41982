#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// A character as its code point, −1 where the bytes are not UTF-8, and how many bytes it takes.
struct DecodedCharacter {
  std::int32_t point;
  std::size_t bytes;
};

/// The first character of a text that is not empty.
DecodedCharacter first_character(std::string_view text);

/// Text that a terminal cannot mistake for a command: control characters, signs that turn the direction
/// of writing, and broken UTF-8 become U+FFFD.
std::string printable(std::string_view text);
/// The same of several lines, which keep their ends and tabs.
std::string printable_lines(std::string_view lines);

/// Whether printable() changes nothing.
bool is_printable(std::string_view text);

}  // namespace attn
