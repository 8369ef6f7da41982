#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The columns that a text takes in a terminal: wide for CJK and emoji, none for combining marks.
std::size_t display_width(std::string_view text);

/// The same of a line that our own colors are part of.
std::size_t visible_width(std::string_view line);

/// The rows that lines take on a terminal of so many columns; 0 columns: no line is broken.
std::size_t rows_of(std::string_view lines, std::size_t columns);

/// The longest beginning of whole characters that takes at most `width` columns, and `ellipsis` if that is
/// not all.
std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis);

/// The text, or where it has more bytes than `most` its beginning and its end, with "…" between them.
std::string abridged(std::string_view text, std::size_t most);

/// Text that a terminal cannot mistake for a command: control characters, signs that turn the direction
/// of writing, and broken UTF-8 become U+FFFD.
std::string printable(std::string_view text);
/// The same of several lines, which keep their ends and tabs.
std::string printable_lines(std::string_view lines);

/// Our own mathematical signs and box lines in ASCII; anything else is left as it is.
std::string in_ascii(std::string_view text);

/// The text in lines of at most `width` columns, broken at blanks; a longer word has a line of its own.
/// No-break spaces (U+00A0) become blanks, where no line was broken.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

}  // namespace attn
