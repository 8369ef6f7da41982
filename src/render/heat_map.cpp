#include <fmt/format.h>

#include <algorithm>

#include "render/drawing.hpp"
#include "render/table_layout.hpp"
#include "render/width.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::size_t most_rows = 64;
constexpr std::size_t levels = 5;  // that the legend tells

// Places that are shown, where there is no room for all.
std::vector<std::size_t> every(std::size_t step, std::size_t count) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; i += step) places.push_back(i);
  return places;
}

std::string one_in(std::size_t step) {
  return step > 1 ? fmt::format(", one in {}", step) : "";
}

// The numbers of the legend, from the smallest to the largest.
Matrix levels_of(const ValueRange& range) {
  if (range.is_empty()) return Matrix({0, 1});
  if (range.is_constant()) return Matrix({1, 1}, range.at(0.5));
  Matrix values({levels, 1});
  for (std::size_t level = 0; level < levels; ++level)
    values(level, 0) = range.at(static_cast<double>(level) / static_cast<double>(levels - 1));
  return values;
}

std::vector<Drawing::Entry> legend_of(const Table& table, const ValueRange& range, int precision) {
  const Matrix values = levels_of(range);
  const Digits digits = digits_for(values, precision);
  std::vector<Drawing::Entry> entries;
  for (const double level : cells(values)) {
    digits.append(entries.emplace_back().text, level);
    entries.back().level = level;
  }
  const auto missing =
      std::ranges::find_if(cells(*table.cells), [&](double cell) { return !range.holds(cell); });
  if (missing != cells(*table.cells).end())
    entries.push_back({.text = "not finite", .level = std::numeric_limits<double>::quiet_NaN()});
  return entries;
}

}  // namespace

Drawing lay_out(const HeatMap& map, const Style& style, const Metrics& metrics) {
  const Table& table = map.table;
  const Shape shape = table.cells->shape();
  const auto shown = [&](std::size_t row) {
    return shortened(style.words(table.rows.label(row)), std::min<std::size_t>(16, style.limit() / 3),
                     style.unicode ? "…" : "~");
  };
  const std::size_t row_step = style.full ? 1 : (shape.rows + most_rows - 1) / most_rows;
  std::vector<std::size_t> rows = every(row_step, shape.rows);
  std::size_t label_width = 0;
  for (const std::size_t row : rows) label_width = std::max(label_width, display_width(shown(row)));
  const std::size_t room = metrics.limit / metrics.column - label_width - 3;
  const std::size_t step = (shape.columns + room - 1) / room;

  Drawing drawing{.caption = fmt::format("{}: {} ({}{}), {} ({}{})", table.title, count_of(shape.rows, "row"),
                                         table.rows.name, one_in(row_step), count_of(shape.columns, "column"),
                                         table.columns.name, one_in(step))};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string label = shown(rows[i]);
    const std::size_t left = (label_width - display_width(label)) * metrics.column;
    drawing.labels.push_back({{left, i * metrics.line}, std::move(label)});
  }
  ValueRange range;
  for (const double value : cells(*table.cells)) range.include(value);
  drawing.legends.push_back(legend_of(table, range, style.precision));
  drawing.cells = {.table = table,
                   .range = range,
                   .at = {(label_width + 2) * metrics.column, 0},
                   .width = (shape.columns * 2 <= room ? 2 : 1) * metrics.column,
                   .rows = std::move(rows),
                   .columns = every(step, shape.columns)};
  return drawing;
}

}  // namespace attn
