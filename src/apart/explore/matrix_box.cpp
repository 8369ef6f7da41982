#include "apart/explore/matrix_box.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "page/render/width.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

constexpr std::size_t most_label = 14, most_header = 8, short_header = 4;
constexpr int few_decimals = 2;
constexpr std::size_t most_measured = std::size_t{1} << 16;  // cells

// −∞ of a score that is masked.
constexpr std::string_view masked = "·";

// What stands beside a number, so that it says how the cell is tied to the chosen one without colors, too.
struct Sides {
  Tie tie;
  std::string_view open, close;
  std::string_view color;
};
constexpr std::array all_sides = {Sides{Tie::none, " ", " ", ""}, Sides{Tie::chosen, "▐", "▌", ""},
                                  Sides{Tie::part, "[", "]", "\x1b[35m"}, Sides{Tie::result, "(", ")", "\x1b[32m"}};

const Sides& sides_of(Tie tie) { return *std::ranges::find(all_sides, tie, &Sides::tie); }

}  // namespace

MatrixLayout matrix_layout(const Node& node, const Style& style) {
  const Shape shape = node.frame.shape;
  MatrixLayout all;
  const std::size_t rows =
      std::min(shape.rows, std::max<std::size_t>(1, most_measured / std::max<std::size_t>(1, shape.columns)));
  Matrix cells({rows, shape.columns});
  for (std::size_t i = 0; i < rows; ++i) std::ranges::copy(node.row(i), &cells(i, 0));
  const auto with = [&](int precision) {
    Numerals written{.digits = digits_for(cells, precision)};
    for (const double value : attn::cells(cells)) {
      if (!std::isinf(value)) written.number = std::max(written.number, written.digits.width(value));
    }
    return written;
  };
  all.exact = with(style.precision);
  all.short_ = with(std::min(style.precision, few_decimals));
  const auto widest = [](const Axis& axis, std::size_t count, std::size_t most) {
    std::size_t width = std::to_string(count).size();
    for (std::size_t i = 0; axis.labels && i < count; ++i) width = std::max(width, display_width(axis.label(i)));
    return std::min(width, most);
  };
  all.label = widest(node.frame.rows, shape.rows, most_label);
  all.header = widest(node.frame.columns, shape.columns, most_header);
  const Table table =
      shown_as({.title = {}, .rows = {}, .columns = {}, .cells = std::make_shared<const Matrix>(std::move(cells))},
               node.content(), false, {});
  all.has_colors = style.colors != Colors::none;
  all.shading = std::make_shared<const Shading>(table, style);
  return all;
}

std::size_t first_shown(std::size_t before, std::size_t chosen, std::size_t shown, std::size_t all) {
  if (shown >= all) return 0;
  if (before <= chosen && chosen < before + shown && before + shown <= all) return before;
  return std::min(chosen - std::min(chosen, shown / 2), all - shown);
}

MatrixBox::MatrixBox(ShownMatrix shown, const MatrixLayout& measured, std::size_t columns)
    : shown_(std::move(shown)), measured_(measured), written_(measured.exact) {
  if (shown_.is_transposed) std::swap(measured_.label, measured_.header);
  measured_.label = std::max(measured_.label, std::min(most_label, display_width(shown_.title)));
  if (natural().columns <= columns) return;
  is_short_ = true;
  written_ = measured.short_;
}

const Axis& MatrixBox::row_axis() const {
  return shown_.is_transposed ? shown_.node->frame.columns : shown_.node->frame.rows;
}
const Axis& MatrixBox::column_axis() const {
  return shown_.is_transposed ? shown_.node->frame.rows : shown_.node->frame.columns;
}
std::size_t MatrixBox::row_count() const {
  const Shape shape = shown_.node->frame.shape;
  return shown_.is_transposed ? shape.columns : shape.rows;
}
std::size_t MatrixBox::column_count() const {
  const Shape shape = shown_.node->frame.shape;
  return shown_.is_transposed ? shape.rows : shape.columns;
}

// A number with a sign on each side, or ▲ behind it.
std::size_t MatrixBox::cell_width() const {
  return std::max(written_.number, is_short_ ? std::min(measured_.header, short_header) : measured_.header) + 2;
}

TerminalSize MatrixBox::natural() const {
  return {measured_.label + 3 + column_count() * cell_width(), row_count() + 1};
}

void MatrixBox::place(Area area, std::size_t row, std::size_t column, Corner& corner) {
  if (shown_.is_transposed) std::swap(row, column);
  area_ = area;
  const std::size_t frame = measured_.label + 3;
  rows_ = std::min(row_count(), area.rows > 1 ? area.rows - 1 : 0);
  columns_ = std::min(column_count(), area.columns > frame ? (area.columns - frame) / cell_width() : 0);
  first_row_ = corner.row = first_shown(corner.row, row, rows_, row_count());
  first_column_ = corner.column = first_shown(corner.column, column, columns_, column_count());
}

std::string MatrixBox::row_label(std::size_t i) const { return shortened(row_axis().label(i), measured_.label, "…"); }

std::string MatrixBox::written(double value) const {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : shown_.node->may_be_masked() ? std::string(masked) : "−∞";
  std::string text;
  written_.digits.append(text, value);
  return text;
}

void MatrixBox::draw(Grid& grid, const TieOf& tie) const {
  const std::size_t end = area_.column + area_.columns, bar = area_.column + measured_.label + 1;
  const auto right = [](std::string_view text, std::size_t width) {
    const std::size_t used = display_width(text);
    return std::string(width > used ? width - used : 0, ' ') + std::string(text);
  };
  const std::size_t first = bar + 1;
  grid.put(area_.row, area_.column, shortened(shown_.title, measured_.label, "…"), {.bold = true}, end);
  grid.put(area_.row, bar, "│", {.dim = true}, end);
  for (std::size_t j = 0; j < columns_; ++j) {
    const std::string label = shortened(column_axis().label(first_column_ + j), cell_width() - 2, "…");
    grid.put(area_.row, first + j * cell_width(), right(label, cell_width() - 1), {}, end);
  }
  if (first_column_ + columns_ < column_count())
    grid.put(area_.row, std::min(end - 1, first + columns_ * cell_width()), "›", {.dim = true}, end);
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::size_t line = area_.row + 1 + i, place = first_row_ + i;
    grid.put(line, area_.column, row_label(place), {}, end);
    grid.put(line, bar, "│", {.dim = true}, end);
    for (std::size_t j = 0; j < columns_; ++j) {
      std::size_t row = place, column = first_column_ + j;
      if (shown_.is_transposed) std::swap(row, column);
      const double value = shown_.node->cell(row, column);
      const Tie how = tie(row, column);
      const Sides& sides = sides_of(how);
      std::string_view open = sides.open, close = sides.close;
      if (shown_.before) {
        const double old = shown_.before->cell(row, column);
        if (value > old) close = "▲";
        if (value < old) close = "▼";
      }
      Look number{.color = measured_.shading->of(value), .bold = how != Tie::none, .reversed = how == Tie::chosen};
      Look side{.color = measured_.has_colors ? std::string(sides.color) : "", .bold = true};
      if (how == Tie::chosen) side = number;
      if (number.color.empty() && how != Tie::chosen) number.color = side.color;
      const std::string text = written(value);
      const std::size_t used = display_width(text) + 2, at = first + j * cell_width();
      std::size_t begin = at + (cell_width() > used ? cell_width() - used : 0);
      begin = grid.put(line, begin, open, side, end);
      begin = grid.put(line, begin, text, number, end);
      grid.put(line, begin, close, side, end);
    }
  }
  if (first_row_ + rows_ < row_count() && area_.rows > 1) grid.put(area_.row + rows_, bar, "⋮", {.dim = true}, end);
}

std::optional<std::pair<std::size_t, std::size_t>> MatrixBox::cell_at(std::size_t row, std::size_t column) const {
  const std::size_t first = area_.column + measured_.label + 2;
  if (!area_.has(row, column) || row == area_.row || column < first) return std::nullopt;
  const std::size_t i = row - area_.row - 1, j = (column - first) / cell_width();
  if (i >= rows_ || j >= columns_) return std::nullopt;
  std::pair place{first_row_ + i, first_column_ + j};
  if (shown_.is_transposed) std::swap(place.first, place.second);
  return place;
}

}  // namespace attn
