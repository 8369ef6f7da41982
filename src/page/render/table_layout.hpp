#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"

namespace attn {

/// How a number is spelled where there is little room: as usual; without the zero before the point, of numbers from 0
/// to 1 (`.07`; 1 is `1`, and what only rounds to it `1.0`); or in whole percent without a sign.
enum class Spelling { usual, without_zero, percent };

/// How the numbers of one table are written: all with the same decimals, so that their points stand in one
/// line.
struct Digits {
  int decimals = 0;
  bool scientific = false;
  Spelling spelling = Spelling::usual;

  void append(std::string& out, double value) const;
  std::size_t width(double value) const;
  /// The places of the point and the decimals.
  std::size_t after_units() const;
};

/// The title of a table as formulas write it; without LaTeX where it is words.
Formula symbol_of(const Table& table);

/// As few decimals as show every cell exactly, at most `precision`; scientific when the table is huge or
/// tiny.
Digits digits_for(const Matrix& cells, int precision);

/// The same for each column of a table: one for all, or its own where the columns differ.
std::vector<Digits> digits_for_columns(const Table& table, int precision);

/// Whether the cell is masked: its score is −∞.
inline bool is_masked(const Table& table, std::size_t row, std::size_t column) {
  return table.scores && (*table.scores)(row, column) == -std::numeric_limits<double>::infinity();
}

/// How a document writes a table. What stands in a cell, the walk below says.
struct RowForm {
  Marks label = {}, column = {}, cell = {}, sum = {};  // around the labels of rows and columns, cells, and sums
  std::string_view between = {};                       // two cells
  std::string_view end = {};                           // of a row
  std::string_view masked;                             // in place of the number of a masked cell
  std::string_view total = "Σ";                        // above the sums
  std::span<const std::string> row_labels = {};        // as they are written; empty: label_of says it
  std::string (*label_of)(const std::string& label, bool is_marked) = nullptr;      // null: there are none
  void (*shade)(std::string& line, double strength) = nullptr;                      // before a cell; null: not
  void (*number)(std::string& line, double value, const Digits& digits) = nullptr;  // null: as it is
};

/// Some columns of a table that stand beside each other.
struct Columns {
  std::size_t first = 0, count = 0;
};

/// A walk over the cells of a table: which number is written with which digits, what is masked, how strongly a cell is
/// shaded, what a row sums to.
class TableWalk {
 public:
  TableWalk(const Table& table, int precision);

  /// The labels of these columns, and of the sums where they are asked for.
  std::string column_labels(const RowForm& form, Columns columns, bool with_sums) const;
  /// Writes the rows, with these of their columns; with its sum, which is of the whole row, where that is asked for.
  /// Whether one of the cells is masked. Rows are made by several threads.
  bool write_rows(const RowForm& form, Columns columns, bool with_sums, Sink& sink) const;
  /// Appends one of them, and says the same.
  bool append_row(const RowForm& form, std::size_t i, Columns columns, bool with_sums, std::string& line) const;

  Columns all() const { return {0, digits_.size()}; }
  const Table& table() const { return table_; }
  const std::vector<Digits>& digits() const { return digits_; }

 private:
  const Table& table_;
  TablePlace marked_;
  int precision_;
  std::vector<Digits> digits_;
  Strengths strengths_;
};

/// Fewer decimals for where there is no room, down to this many. A table of small numbers keeps as many as
/// show two digits of its largest.
constexpr int least_decimals = 2;
Digits with_at_most(int decimals, Digits digits, double largest);

/// How long labels may be where a table has to fit a terminal: a row's label takes its room once, a column's may make
/// the column wider than its numbers.
constexpr std::size_t longest_row_label = 24;
constexpr std::size_t longest_column_label = 16;

/// How a table is written for a terminal. Each member is what it gives up where there is no room, in this order.
struct TableForm {
  bool name_above = false;
  std::size_t separation = 2;
  int decimals = std::numeric_limits<int>::max();  // at most
  Spelling spelling = Spelling::usual;
  std::size_t column_letters = longest_column_label;
  bool is_numbered = false;  // columns, and rows that are the same words
  std::size_t row_letters = longest_row_label;
  bool has_sums = true;
};

/// The largest finite size among the cells; 0 without any.
double largest_size(std::span<const double> cells);

/// Rows or columns of a table that are shown, with gaps where some are not.
struct ShownPlaces {
  std::vector<std::size_t> places;  // in order
  std::size_t count = 0;            // of all that there are

  std::size_t left_out() const { return count - places.size(); }
  /// How many are left out before the n-th that is shown, or behind the last one.
  std::size_t gap_before(std::size_t n) const;
  /// How many gaps there are.
  std::size_t gaps() const;
};

ShownPlaces every_place(std::size_t count);
/// These of `count`, in any order and any number of times.
ShownPlaces chosen_places(std::size_t count, std::vector<std::size_t> places);

/// The rows of a long table: the first and the last ones, and those that a sentence names.
ShownPlaces shown_rows(const Table& table);

/// Labels of these places of an axis in a list, each at most `longest` wide. A cut is marked. A label that is repeated,
/// or that its cut makes like another, has its number, which stays whole.
std::vector<std::string> short_labels(const Axis& axis, const std::vector<std::size_t>& places, std::size_t longest,
                                      const Style& style);

/// The columns of a table, those first that are left out last: those that a sentence names, then those with
/// the largest weights in these rows; where there are no weights, more from the beginning than from the end.
std::vector<std::size_t> columns_by_importance(const Table& table, const ShownPlaces& rows);

}  // namespace attn
