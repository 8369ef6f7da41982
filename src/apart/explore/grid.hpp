#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"

namespace attn {

/// How a cell of a screen looks, beside its text.
struct Look {
  std::string color = {};  // a sequence that begins one, or "": plain
  bool bold = false, dim = false, underlined = false, reversed = false;

  bool operator==(const Look&) const = default;
};

/// A screen as a grid of cells, each with one character: what a view draws on, before anything is written.
class Grid {
 public:
  struct GridCell {
    std::string text = " ";  // empty: the second half of a wide character
    Look look = {};
    bool operator==(const GridCell&) const = default;
  };

  /// Without Unicode, our own signs are written in ASCII.
  explicit Grid(TerminalSize size, bool unicode = true);

  TerminalSize size() const { return size_; }
  const GridCell& at(std::size_t row, std::size_t column) const { return cells_[row * size_.columns + column]; }

  /// Writes text from a cell on, and gives the column behind it. What lies outside of the grid, or at or behind the
  /// column `end`, is left out, a wide character as a whole. Control characters are shown as U+FFFD.
  std::size_t put(std::size_t row, std::size_t column, std::string_view text, const Look& look = {},
                  std::size_t end = no_end);
  /// Likewise a line with colors and emphasis of its own.
  void put_line(std::size_t row, std::size_t column, std::string_view line, std::size_t end = no_end);

  /// Its lines without their looks, and without blanks at their ends.
  std::string text() const;

  static constexpr std::size_t no_end = static_cast<std::size_t>(-1);

 private:
  TerminalSize size_;
  bool unicode_;
  std::vector<GridCell> cells_;
};

/// What makes one grid of another on a terminal: only the cells that differ are written, each run of them where it
/// stands. A grid of another size is written whole, on a terminal that is cleared first.
std::string screen_update(const Grid& before, const Grid& now);
/// What writes a grid whole on a cleared terminal.
std::string screen_redraw(const Grid& grid);

}  // namespace attn
