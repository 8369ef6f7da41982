#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/color.hpp"
#include "render/drawing.hpp"
#include "render/table_layout.hpp"
#include "render/value_range.hpp"
#include "render/width.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 5> shades = {" ", "░", "▒", "▓", "█"};
constexpr std::string_view not_finite = "?";
constexpr std::array<std::string_view, 5> ascii_shades = {" ", ".", "+", "#", "@"};

constexpr std::size_t most_rows = 64;

ValueRange range_of(const Matrix& matrix) {
  ValueRange range;
  for (const double value : cells(matrix)) range.include(value);
  return range;
}

// The size that each of the signs stands for, from the smallest to the largest.
Matrix levels_of(const ValueRange& range) {
  if (range.is_empty()) return Matrix({0, 1});
  if (range.is_constant()) return Matrix({1, 1}, range.at(0.5));
  Matrix levels({shades.size(), 1});
  for (std::size_t level = 0; level < shades.size(); ++level) {
    levels(level, 0) = range.at(static_cast<double>(level) / static_cast<double>(shades.size() - 1));
  }
  return levels;
}

class HeatMapWriter {
 public:
  HeatMapWriter(const Table& table, const Style& style, Sink& sink)
      : table_(table), style_(style), sink_(sink), range_(range_of(*table.cells)), shading_(table, style) {
    constexpr std::size_t margin = 5;
    const Shape shape = table.cells->shape();
    row_step_ = style.full ? 1 : (shape.rows + most_rows - 1) / most_rows;
    for (std::size_t i = 0; i < shape.rows; i += row_step_) {
      label_width_ = std::max(label_width_, display_width(shown(table.rows.label(i))));
    }
    const std::size_t room = style.limit() - label_width_ - margin;
    cell_width_ = shape.columns * 2 <= room ? 2 : 1;
    step_ = (shape.columns + room - 1) / room;
  }

  void write() {
    const Shape shape = table_.cells->shape();
    const std::string title = style_.signs(fmt::format(
        "{}: {} ({}{}), {} ({}{})", table_.title, count_of(shape.rows, "row"), table_.rows.name,
        one_in(row_step_), count_of(shape.columns, "column"), table_.columns.name, one_in(step_)));
    for (const std::string& line : wrap(title, style_.limit() - 2)) sink_.write("  " + line + "\n");
    for (std::size_t i = 0; i < shape.rows; i += row_step_) write_row(i, shape.columns);
    write_legend();
  }

 private:
  std::string shown(const std::string& label) const {
    return shortened(printable(label), std::min<std::size_t>(16, style_.limit() / 3),
                     style_.unicode ? "…" : "~");
  }

  // Which are shown, where there is no room for all.
  static std::string one_in(std::size_t step) { return step > 1 ? fmt::format(", one in {}", step) : ""; }

  // A cell of the picture: a colored blank where there are colors enough, and otherwise a sign.
  std::string swatch(double value, std::size_t width) const {
    if (range_.holds(value) && shading_.tells_sizes()) {
      return shading_.of(value) + std::string(width, ' ') + plain(style_);
    }
    std::string text;
    for (std::size_t k = 0; k < width; ++k) text += sign(value);
    return text;
  }

  std::string_view sign(double value) const {
    if (!range_.holds(value)) return not_finite;
    const auto& signs = style_.unicode ? shades : ascii_shades;
    const double place = range_.share(value) * static_cast<double>(signs.size() - 1);
    return signs[static_cast<std::size_t>(std::lround(place))];
  }

  void write_row(std::size_t i, std::size_t columns) {
    const std::string label = shown(table_.rows.label(i));
    std::string line = "  " + std::string(label_width_ - display_width(label), ' ') + label + " ";
    line += style_.unicode ? "│" : "|";
    for (std::size_t j = 0; j < columns; j += step_) line += swatch((*table_.cells)(i, j), cell_width_);
    sink_.write(line + (style_.unicode ? "│" : "|") + "\n");
  }

  void write_legend() {
    const Matrix levels = levels_of(range_);
    const Digits digits = digits_for(levels, style_.precision);
    std::vector<std::string> entries;
    for (const double level : cells(levels)) {
      std::string entry = shading_.tells_sizes() ? swatch(level, 2) : fmt::format("'{}'", sign(level));
      entry += ' ';
      digits.append(entry, level);
      entries.push_back(std::move(entry));
    }
    const bool all = std::ranges::all_of(cells(*table_.cells), [&](double x) { return range_.holds(x); });
    if (!all) entries.push_back(fmt::format("'{}' not finite", not_finite));
    write_entries(entries, style_.limit(), sink_);
  }

  const Table& table_;
  const Style& style_;
  Sink& sink_;
  ValueRange range_;
  Shading shading_;
  std::size_t label_width_ = 0;
  std::size_t cell_width_ = 2;
  std::size_t step_ = 1;  // columns and rows that are left out between two that are shown
  std::size_t row_step_ = 1;
};

}  // namespace

void write_heat_map(const HeatMap& map, const Style& style, Sink& sink) {
  HeatMapWriter(map.table, style, sink).write();
}

}  // namespace attn
