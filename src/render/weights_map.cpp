#include <fmt/format.h>

#include <algorithm>

#include "render/described.hpp"
#include "render/drawing.hpp"
#include "render/table_layout.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t longest_label = 24, most_rows = 64;

std::string label_of(const Axis& axis, std::size_t i, const Style& style) {
  return shortened(style.words(axis.label(i)), longest_label, style.unicode ? "…" : "~");
}

// All numbers as they are written, row after row.
std::vector<std::string> numbers_of(const Table& table, const Style& style) {
  const std::vector<Digits> digits = digits_for_columns(table, style.precision);
  const Shape shape = table.cells->shape();
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      std::string& number = numbers.emplace_back();
      if (is_masked(table, i, j)) {
        number = style.unicode ? "·" : ".";
      } else {
        digits[j].append(number, (*table.cells)(i, j));
      }
    }
  }
  return numbers;
}

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

std::vector<std::size_t> all_places(std::size_t count) {
  return all_of(count).places;
}

}  // namespace

Drawing lay_out_with_numbers(const Table& table, const Style& style, const Metrics& metrics) {
  const Shape shape = table.cells->shape();
  const auto without_numbers = [&] {
    return described(lay_out(HeatMap{table}, style, metrics), HeatMap{table}, style);
  };
  const std::size_t limit = metrics.limit * 3 / 2 / metrics.column;  // numbers are worth some room
  constexpr std::size_t least_width = 3;
  if (shape.rows > most_rows || shape.columns * least_width > limit) return without_numbers();
  std::vector<std::string> rows, columns;
  for (std::size_t i = 0; i < shape.rows; ++i) rows.push_back(label_of(table.rows, i, style));
  for (std::size_t j = 0; j < shape.columns; ++j) columns.push_back(label_of(table.columns, j, style));
  const std::vector<std::string> numbers = numbers_of(table, style);
  const std::size_t label_width = widest(rows),
                    cell_width = std::max({widest(columns), widest(numbers), std::size_t{1}}) + 2;
  if (label_width + 2 + shape.columns * cell_width > limit) return without_numbers();

  Drawing drawing{.caption = table.title};
  const std::size_t left = label_width + 2;
  const auto put = [&](std::size_t column, std::size_t line, const std::string& text) {
    drawing.labels.push_back({{column * metrics.column, line * metrics.line}, text});
  };
  const auto put_in_cell = [&](std::size_t j, std::size_t line, const std::string& text) {
    put(left + j * cell_width + (cell_width - display_width(text)) / 2, line, text);
  };
  ValueRange range;
  for (const double value : cells(*table.cells)) range.include(value);
  for (std::size_t j = 0; j < shape.columns; ++j) put_in_cell(j, 0, columns[j]);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    put(label_width - display_width(rows[i]), i + 1, rows[i]);
    for (std::size_t j = 0; j < shape.columns; ++j) put_in_cell(j, i + 1, numbers[i * shape.columns + j]);
  }
  drawing.cells = {.table = table,
                   .range = range,
                   .at = {left * metrics.column, metrics.line},
                   .width = cell_width * metrics.column,
                   .rows = all_places(shape.rows),
                   .columns = all_places(shape.columns)};
  return described(std::move(drawing), HeatMap{table}, style);
}

}  // namespace attn
