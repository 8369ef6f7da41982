#pragma once

#include <limits>
#include <string>
#include <vector>

#include "page/page.hpp"
#include "render/style.hpp"

namespace attn {

/// How the numbers of one table are written: all with the same decimals, so that their points stand in one
/// line.
struct Digits {
  int decimals = 0;
  bool scientific = false;

  void append(std::string& out, double value) const;
  std::size_t width(double value) const;
};

/// As few decimals as show every cell exactly, at most `precision`; scientific when the table is huge or
/// tiny.
Digits digits_for(const Matrix& cells, int precision);

/// The same for each column of a table: one for all, or its own where the columns differ.
std::vector<Digits> digits_for_columns(const Table& table, int precision);

/// Whether the cell is masked: its score is −∞.
inline bool is_masked(const Table& table, std::size_t row, std::size_t column) {
  return table.scores && (*table.scores)(row, column) == -std::numeric_limits<double>::infinity();
}

/// Rows or columns of a table that are shown: the first and the last ones, with a gap between when some are
/// not.
struct Shown {
  std::vector<std::size_t> places;
  std::size_t gap_after = 0;  // how many places stand before the gap
  std::size_t left_out = 0;
};

Shown all_of(std::size_t count);
/// The first `head` and the last `tail` of `count`; all when that is not fewer.
Shown ends_of(std::size_t count, std::size_t head, std::size_t tail);

}  // namespace attn
