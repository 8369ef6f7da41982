#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"
#include "core/support/printable.hpp"
#include "page/render/style.hpp"

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

/// Our own mathematical signs and box lines in ASCII; anything else is left as it is.
std::string in_ascii(std::string_view text);

/// The text in lines of at most `width` columns, broken at blanks; a longer word has a line of its own.
/// No-break spaces (U+00A0) become blanks, where no line was broken.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

/// Thrown where a reader has seen enough of a page.
struct PageLeft {};

/// Writes text to a terminal so that nothing scrolls away: after every screen it waits for a key (Space,
/// Enter, b, q). What fits on one screen is written as it is; so is everything where the height is not known.
class Pager {
 public:
  /// `reserved` rows stay free for what else is written below the text.
  Pager(Terminal& terminal, const Style& style, std::size_t reserved = 1)
      : terminal_(terminal), style_(style), reserved_(reserved) {}

  /// Throws PageLeft.
  void write(std::string_view bytes);
  /// Text whose paragraphs are not to be torn apart: where it does not fit below what is there, those that do are
  /// written with that, and the rest after a key. Throws PageLeft.
  void write_together(std::string_view text);
  /// The last line, if no line end has followed it. Throws PageLeft.
  void finish();
  /// The reader has seen all that is there: a new screen begins.
  void restart();

 private:
  void show_lines();
  void wait();
  std::optional<char> key_after(std::string_view says);
  void back();
  std::size_t screen() const;

  Terminal& terminal_;
  Style style_;
  std::size_t reserved_;
  std::vector<std::string> lines_;  // all that came, each with its end
  std::string open_;                // a line whose end has not come yet
  std::size_t next_ = 0;            // the first line that is not on the terminal
  std::size_t used_ = 0;            // rows since the last key
};

}  // namespace attn
