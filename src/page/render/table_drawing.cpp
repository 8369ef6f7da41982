#include <fmt/format.h>

#include <algorithm>

#include "core/support/number.hpp"
#include "page/render/picture.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t longest_label_drawn = 24, most_rows_drawn = 64;  // of a table with its numbers
constexpr std::size_t around_number = 2;                               // columns: one at each side
constexpr double strongest_shade = 0.55;                               // a number on it stays readable

std::string label_drawn(const Axis& axis, std::size_t i, const Style& style) {
  return shortened(style.words(axis.label(i)), longest_label_drawn, style.unicode ? "…" : "~");
}

// What stands in a cell.
std::string cell_drawn(const Table& table, const Digits& digits, std::size_t i, std::size_t j, const Style& style) {
  if (is_masked(table, i, j)) return style.unicode ? "·" : ".";
  std::string number;
  digits.append(number, (*table.cells)(i, j));
  return style.signs(number);
}

std::string sum_drawn(const Table& table, std::size_t i, const Style& style) {
  double sum = 0.0;
  for (const double value : row(*table.cells, i)) sum += value;
  std::string text;
  digits_for(Matrix({1, 1}, sum), style.precision).append(text, sum);
  return text;
}

class TableDrawing {
 public:
  TableDrawing(const Table& table, const TableWidths& widths, const Style& style, const Metrics& metrics)
      : table_(table),
        marked_(table.marked()),
        widths_(widths),
        style_(style),
        metrics_(metrics),
        shape_(table.cells->shape()),
        digits_(digits_for_columns(table, widths.precision)) {}

  Drawing drawn() && {
    const Formula title = symbol_of(table_);
    const std::string size = to_string(shape_);
    drawing_.title = table_.title;
    add(0, 0, style_.words(table_.title), Label::Kind::strong, title.latex);
    add(display_width(table_.title) + 2, 0, size, Label::Kind::quiet);
    add_columns();
    for (std::size_t i = 0; i < shape_.rows; ++i) add_row(i);
    add_frame();
    if (has_masked_) add(widths_.labels + 1, shape_.rows + first_row, style_.signs("· masked"), Label::Kind::quiet);
    drawing_.description = fmt::format("A table with {} ({}) and {} ({}).", count_of(shape_.rows, "row"),
                                       table_.rows.name, count_of(shape_.columns, "column"), table_.columns.name);
    return std::move(drawing_);
  }

 private:
  using Label = Drawing::Label;
  static constexpr std::size_t first_row = 2;  // below the title and the labels of columns

  void add(std::size_t column, std::size_t line, std::string text, Label::Kind kind = Label::Kind::plain,
           std::string latex = {}) {
    drawing_.labels.push_back(
        {{column * metrics_.column, line * metrics_.line}, std::move(text), kind, std::move(latex)});
  }

  // Ends at the right of its cell, as numbers do.
  void add_in_cell(std::size_t left, std::size_t width, std::size_t line, const std::string& text, Label::Kind kind) {
    add(left + width - 1 - display_width(text), line, text, kind);
  }

  std::size_t left_of(std::size_t column) const {
    std::size_t left = widths_.labels + 1;
    for (std::size_t j = 0; j < column; ++j) left += widths_.columns[j];
    return left;
  }

  void add_columns() {
    for (std::size_t j = 0; j < shape_.columns; ++j) {
      const bool is_marked = marked_.column == j;
      add_in_cell(left_of(j), widths_.columns[j], 1, label_drawn(table_.columns, j, style_), kind_of(is_marked));
    }
    if (table_.row_sums) add(left_of(shape_.columns) + 1, 1, style_.signs("Σ"), Label::Kind::quiet);
  }

  // The words of tokens are read; numbers of rows and columns only count.
  static Label::Kind kind_of(bool is_marked) { return is_marked ? Label::Kind::strong : Label::Kind::quiet; }

  bool is_marked(std::size_t i, std::size_t j) const {
    const bool in_row = marked_.row == i, in_column = marked_.column == j;
    if (marked_.row && marked_.column) return in_row && in_column;
    return in_row || in_column;
  }

  void add_row(std::size_t i) {
    const std::size_t line = i + first_row;
    const std::string label = label_drawn(table_.rows, i, style_);
    add(widths_.labels - display_width(label), line, label, kind_of(marked_.row == i));
    const Strengths strengths(table_);
    for (std::size_t j = 0; j < shape_.columns; ++j) {
      const std::size_t left = left_of(j), width = widths_.columns[j];
      const bool is_hidden = is_masked(table_, i, j);
      const double strength = is_hidden ? 0.0 : strengths.of((*table_.cells)(i, j)) * strongest_shade;
      if (is_marked(i, j)) {
        add_tile(left, width, line, {});
      } else if (strength != 0.0) {
        add_tile(left, width, line, strength);
      }
      add_in_cell(left, width, line, cell_drawn(table_, digits_[j], i, j, style_),
                  is_marked(i, j) ? Label::Kind::strong : Label::Kind::plain);
      has_masked_ = has_masked_ || is_hidden;
    }
    if (table_.row_sums)
      add(left_of(shape_.columns) + 1, line, style_.signs(sum_drawn(table_, i, style_)), Label::Kind::quiet);
  }

  void add_tile(std::size_t left, std::size_t width, std::size_t line, std::optional<double> strength) {
    drawing_.tiles.push_back(
        {{left * metrics_.column, line * metrics_.line}, width * metrics_.column, metrics_.line, strength});
  }

  // Around the cells: half a line above the first, and half a column beside it.
  void add_frame() {
    if (shape_.rows == 0 || shape_.columns == 0) return;
    const std::size_t left = left_of(0) * metrics_.column - metrics_.column / 2,
                      right = left_of(shape_.columns) * metrics_.column - metrics_.column / 2,
                      top = first_row * metrics_.line - metrics_.line / 2,
                      bottom = (first_row + shape_.rows) * metrics_.line - metrics_.line / 2;
    drawing_.lines.push_back({{{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}}});
  }

  const Table& table_;
  TablePlace marked_;
  const TableWidths& widths_;
  const Style& style_;
  const Metrics& metrics_;
  const Shape shape_;
  const std::vector<Digits> digits_;
  Drawing drawing_;
  bool has_masked_ = false;
};

TableWidths widths_at(int precision, const Table& table, const Style& style) {
  const Shape shape = table.cells->shape();
  const std::vector<Digits> digits = digits_for_columns(table, precision);
  TableWidths widths{.precision = precision};
  for (std::size_t i = 0; i < shape.rows; ++i)
    widths.labels = std::max(widths.labels, display_width(label_drawn(table.rows, i, style)));
  for (std::size_t j = 0; j < shape.columns; ++j) {
    std::size_t width = display_width(label_drawn(table.columns, j, style));
    for (std::size_t i = 0; i < shape.rows; ++i)
      width = std::max(width, display_width(cell_drawn(table, digits[j], i, j, style)));
    widths.columns.push_back(width + around_number);
  }
  if (!table.columns_differ && !widths.columns.empty())
    std::ranges::fill(widths.columns, *std::ranges::max_element(widths.columns));
  return widths;
}

}  // namespace

std::optional<TableWidths> widths_of_drawing(const Table& table, const Style& style, const Metrics& metrics) {
  const Shape shape = table.cells->shape();
  const std::size_t limit = metrics.limit * 3 / 2 / metrics.column;  // numbers are worth some room
  if (shape.rows > most_rows_drawn || shape.columns * (around_number + 1) > limit) return std::nullopt;
  for (const int precision : {style.precision, std::min(style.precision, least_decimals)}) {
    TableWidths widths = widths_at(precision, table, style);
    std::size_t total = widths.labels + 1;
    for (const std::size_t width : widths.columns) total += width;
    if (total <= limit) return widths;
  }
  return std::nullopt;
}

TableWidths wider(const TableWidths& one, const TableWidths& other) {
  TableWidths both = one;
  both.precision = std::min(one.precision, other.precision);
  both.labels = std::max(one.labels, other.labels);
  for (std::size_t j = 0; j < std::min(one.columns.size(), other.columns.size()); ++j)
    both.columns[j] = std::max(one.columns[j], other.columns[j]);
  return both;
}

Drawing lay_out(const Table& table, const TableWidths& widths, const Style& style, const Metrics& metrics) {
  return TableDrawing(table, widths, style, metrics).drawn();
}

}  // namespace attn
