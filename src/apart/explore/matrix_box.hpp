#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apart/explore/grid.hpp"
#include "core/graph/graph.hpp"
#include "page/render/style.hpp"
#include "page/render/table_layout.hpp"

namespace attn {

/// How a cell stands to the chosen one: it is made of it, or the chosen one is made of the cell.
enum class Tie { none, chosen, part, result };

/// A part of a grid.
struct Area {
  std::size_t row = 0, column = 0, rows = 0, columns = 0;

  bool has(std::size_t r, std::size_t c) const { return r - row < rows && c - column < columns; }
};

/// Where the rows and the columns that are seen of a matrix begin.
struct Corner {
  std::size_t row = 0, column = 0;
};
/// The first of so many places that are shown of all, so that the chosen one is seen: the one before, if that does.
std::size_t first_shown(std::size_t before, std::size_t chosen, std::size_t shown, std::size_t all);

/// How numbers are written, and how much room that takes.
struct Numerals {
  Digits digits;
  std::size_t number = 1;  // columns of the widest number
};

/// How a matrix is written, and how much room that takes.
struct MatrixLayout {
  Numerals exact, short_;  // with the digits that were asked for, and with few where there is no room
  std::size_t label = 1;   // columns of the widest label of a row
  std::size_t header = 1;  // of the widest label of a column
  bool has_colors = false;
  std::shared_ptr<const Shading> shading = {};
};

/// Measures a matrix; of a very large one only the first rows, so that nothing waits for it.
MatrixLayout matrix_layout(const Node& node, const Style& style);

/// A matrix in an area of a grid: its labels stay where they are, and its cells move under them. Each cell has room for
/// a sign on both sides, which says how it stands to the chosen one where there are no colors, too.
class MatrixBox {
 public:
  struct ShownMatrix {
    const Node* node = nullptr;    // whose numbers it has
    const Node* before = nullptr;  // the same before a change; null: nothing is changed
    std::string title;
    bool is_transposed = false;
    bool is_chosen = false;  // the chosen cell lies in it
  };
  using TieOf = std::function<Tie(std::size_t row, std::size_t column)>;

  /// With few digits where it would need more than these columns.
  MatrixBox(ShownMatrix shown, const MatrixLayout& measured, std::size_t columns);

  /// How much room it would take.
  TerminalSize natural() const;
  /// Gives it a place, where as many rows and columns are shown as fit; this cell is one of them. They begin where they
  /// began before, as long as it is: what stays in its place need not be written again.
  void place(Area area, std::size_t row, std::size_t column, Corner& corner);
  void draw(Grid& grid, const TieOf& tie) const;

  const ShownMatrix& shown() const { return shown_; }
  const Area& area() const { return area_; }
  /// The cell of the matrix at a place of the screen, as (row, column); nothing: none is there.
  std::optional<std::pair<std::size_t, std::size_t>> cell_at(std::size_t row, std::size_t column) const;

 private:
  const Axis& row_axis() const;
  const Axis& column_axis() const;
  std::size_t row_count() const;
  std::size_t column_count() const;
  std::size_t cell_width() const;
  std::string row_label(std::size_t i) const;
  std::string written(double value) const;

  ShownMatrix shown_;
  MatrixLayout measured_;
  Numerals written_;
  bool is_short_ = false;
  Area area_ = {};
  std::size_t first_row_ = 0, first_column_ = 0, rows_ = 0, columns_ = 0;  // as they are shown
};

}  // namespace attn
