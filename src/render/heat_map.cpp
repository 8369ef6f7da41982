#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/color.hpp"
#include "render/drawing.hpp"
#include "render/range.hpp"
#include "render/width.hpp"
#include "render/written.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 5> shades = {" ", "░", "▒", "▓", "█"};
constexpr std::string_view not_finite = "?";
constexpr std::array<std::string_view, 5> ascii_shades = {" ", ".", "+", "#", "@"};

constexpr std::size_t most_rows = 64;

Range range_of(const Matrix& matrix) {
  Range range;
  for (const double value : cells(matrix)) range.include(value);
  return range;
}

class HeatMapWriter {
 public:
  HeatMapWriter(const Table& table, const Style& style, Sink& sink)
      : table_(table), style_(style), sink_(sink), range_(range_of(*table.cells)) {
    constexpr std::size_t usual = 80, least = 20, margin = 5;
    limit_ = style.width == 0 ? usual : std::max(style.width, least);
    const Shape shape = shape_of(*table.cells);
    row_step_ = style.full ? 1 : (shape.rows + most_rows - 1) / most_rows;
    for (std::size_t i = 0; i < shape.rows; i += row_step_) {
      label_width_ = std::max(label_width_, display_width(shown(table.rows.label(i))));
    }
    const std::size_t room = limit_ - label_width_ - margin;
    cell_width_ = shape.columns * 2 <= room ? 2 : 1;
    step_ = (shape.columns + room - 1) / room;
  }

  void write() {
    const Shape shape = shape_of(*table_.cells);
    const std::string title =
        signs(fmt::format("{}: {} rows ({}{}), {} columns ({}{})", table_.title, shape.rows, table_.rows.name,
                          one_in(row_step_), shape.columns, table_.columns.name, one_in(step_)));
    for (const std::string& line : wrap(title, limit_ - 2)) sink_.write("  " + line + "\n");
    for (std::size_t i = 0; i < shape.rows; i += row_step_) write_row(i, shape.columns);
    write_legend();
  }

 private:
  std::string signs(std::string_view text) const { return printable(style_.unicode ? text : in_ascii(text)); }
  std::string shown(const std::string& label) const {
    return shortened(printable(label), std::min<std::size_t>(16, limit_ / 3), style_.unicode ? "…" : "~");
  }

  // Which are shown, where there is no room for all.
  static std::string one_in(std::size_t step) { return step > 1 ? fmt::format(", one in {}", step) : ""; }

  std::string_view shade(double value) const {
    if (!range_.holds(value)) return not_finite;
    const auto& signs = style_.unicode ? shades : ascii_shades;
    const double place = range_.share(value) * static_cast<double>(signs.size() - 1);
    return signs[static_cast<std::size_t>(std::lround(place))];
  }

  void write_row(std::size_t i, std::size_t columns) {
    const std::string label = shown(table_.rows.label(i));
    std::string line = "  " + std::string(label_width_ - display_width(label), ' ') + label + " ";
    line += style_.unicode ? "│" : "|";
    for (std::size_t j = 0; j < columns; j += step_) {
      const double value = (*table_.cells)(i, j);
      const std::string color = shading(2.0 * range_.share(value) - 1.0, Heat::around_zero, style_.colors);
      line += color;
      for (std::size_t k = 0; k < cell_width_; ++k) line += shade(value);
      if (!color.empty()) line += plain(style_.colors);
    }
    sink_.write(line + (style_.unicode ? "│" : "|") + "\n");
  }

  void write_legend() {
    const Notation notation{.precision = style_.precision};
    const auto& marks = style_.unicode ? shades : ascii_shades;
    std::vector<std::string> entries;
    for (std::size_t level = 0; level < marks.size() && !range_.is_empty(); ++level) {
      if (range_.is_constant() && level != marks.size() / 2) continue;
      const double share = static_cast<double>(level) / static_cast<double>(marks.size() - 1);
      entries.push_back(
          fmt::format("'{}' {}", marks[level], signs(written_number(range_.at(share), notation).text)));
    }
    const bool all = std::ranges::all_of(cells(*table_.cells), [&](double x) { return range_.holds(x); });
    if (!all) entries.push_back(fmt::format("'{}' not finite", not_finite));
    write_entries(entries, limit_, sink_);
  }

  const Table& table_;
  const Style& style_;
  Sink& sink_;
  Range range_;
  std::size_t limit_ = 0;
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
