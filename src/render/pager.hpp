#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "render/style.hpp"
#include "support/terminal.hpp"

namespace attn {

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
  /// Text that is not to be torn apart: where it does not fit below what is there, it waits for a key first.
  /// Throws PageLeft.
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
