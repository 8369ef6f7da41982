#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/color.hpp"
#include "render/drawing.hpp"
#include "render/width.hpp"
#include "render/written.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 5> shades = {" ", "░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 5> ascii_shades = {" ", ".", "+", "#", "@"};

struct Range {
  double least = 0.0, most = 0.0;

  double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

Range range_of(const Matrix& cells) {
  Range range{INFINITY, -INFINITY};
  for (const double value : attn::cells(cells)) {
    if (!std::isfinite(value)) continue;
    range.least = std::min(range.least, value);
    range.most = std::max(range.most, value);
  }
  return range;
}

class HeatMapWriter {
 public:
  HeatMapWriter(const Table& table, const Style& style, Sink& sink)
      : table_(table), style_(style), sink_(sink), range_(range_of(*table.cells)) {
    constexpr std::size_t usual = 80, margin = 4;
    const Shape shape = shape_of(*table.cells);
    for (std::size_t i = 0; i < shape.rows; ++i) {
      label_width_ = std::max(label_width_, display_width(shown(table.rows.label(i))));
    }
    const std::size_t limit = style.width == 0 ? usual : style.width;
    const std::size_t room = limit > label_width_ + margin + 8 ? limit - label_width_ - margin : 8;
    cell_width_ = shape.columns * 2 <= room ? 2 : 1;
    step_ = (shape.columns + room - 1) / room;
  }

  void write() {
    const Shape shape = shape_of(*table_.cells);
    const std::string every = step_ > 1 ? fmt::format(", every {}th", step_) : "";
    sink_.write("  " +
                signs(fmt::format("{}: rows {}, columns {} 1…{}{}", table_.title, table_.rows.name,
                                  table_.columns.name, shape.columns, every)) +
                "\n");
    for (std::size_t i = 0; i < shape.rows; ++i) write_row(i, shape.columns);
    write_legend();
  }

 private:
  std::string signs(std::string_view text) const { return printable(style_.unicode ? text : in_ascii(text)); }
  std::string shown(const std::string& label) const {
    return shortened(printable(label), 16, style_.unicode ? "…" : "~");
  }

  std::string_view shade(double value) const {
    const auto& signs = style_.unicode ? shades : ascii_shades;
    const auto last = static_cast<double>(signs.size() - 1);
    const double place = std::clamp(range_.share(value), 0.0, 1.0) * last;
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
    std::string legend = "  ";
    for (std::size_t level = 0; level < marks.size(); ++level) {
      const double share = static_cast<double>(level) / static_cast<double>(marks.size() - 1);
      const double value = range_.least + share * (range_.most - range_.least);
      legend +=
          fmt::format("{}'{}' {}", level ? "   " : "", marks[level], written_number(value, notation).text);
    }
    sink_.write(legend + "\n");
  }

  const Table& table_;
  const Style& style_;
  Sink& sink_;
  Range range_;
  std::size_t label_width_ = 0;
  std::size_t cell_width_ = 2;
  std::size_t step_ = 1;
};

}  // namespace

void write_heat_map(const HeatMap& map, const Style& style, Sink& sink) {
  HeatMapWriter(map.table, style, sink).write();
}

}  // namespace attn
