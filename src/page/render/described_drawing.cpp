#include <fmt/format.h>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/drawing.hpp"

namespace attn {

namespace {

std::string number_in_words(double value, const Style& style) {
  return written_number(value, {.precision = style.precision});
}

std::string title_of_box(const Flow::Box& box) {
  return box.detail.empty() ? box.title : fmt::format("{} ({})", box.title, box.detail);
}

}  // namespace

Drawing described(Drawing drawing, const HeatMap& map, const Style& style) {
  const Table& table = map.table;
  const Shape shape = table.cells->shape();
  drawing.title = table.title;
  drawing.description = fmt::format("A heat map with {} ({}) and {} ({}).", count_of(shape.rows, "row"),
                                    table.rows.name, count_of(shape.columns, "column"), table.columns.name);
  ValueRange range;
  for (const double value : cells(*table.cells)) range.include(value);
  if (!range.is_empty()) {
    drawing.description += fmt::format(" Its numbers are from {} to {}.", number_in_words(range.at(0.0), style),
                                       number_in_words(range.at(1.0), style));
  }
  return drawing;
}

Drawing described(Drawing drawing, const Plot& plot, const Style& style) {
  drawing.title = plot.title;
  for (const Series& series : plot.series) {
    if (series.x.empty()) continue;
    drawing.description +=
        fmt::format("{}{}: {} at {} = {}", drawing.description.empty() ? "" : " ", series.name,
                    number_in_words(series.y.front(), style), plot.x_name, number_in_words(series.x.front(), style));
    if (series.x.size() > 1) {
      drawing.description += fmt::format(", {} at {} = {}", number_in_words(series.y.back(), style), plot.x_name,
                                         number_in_words(series.x.back(), style));
    }
    drawing.description += ".";
  }
  return drawing;
}

Drawing described(Drawing drawing, const Flow& flow) {
  drawing.title = "The flow of the computation";
  for (const Flow::Box& box : flow.boxes) {
    std::vector<std::string> before;
    for (const std::size_t place : box.from) before.push_back(flow.boxes[place].title);
    drawing.description += (drawing.description.empty() ? "" : " ") + title_of_box(box) +
                           (before.empty() ? "." : " from " + list_in_words(before) + ".");
  }
  return drawing;
}

}  // namespace attn
