#include "render/table_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/number.hpp"

namespace attn {

void Digits::append(std::string& out, double value) const {
  if (scientific) {
    append_scientific(out, value, decimals);
  } else {
    append_fixed(out, value, decimals);
  }
}

std::size_t Digits::width(double value) const {
  if (!scientific) return static_cast<std::size_t>(fixed_width(value, decimals));
  std::string text;
  append_scientific(text, value, decimals);
  return text.size();
}

Digits digits_for(const Matrix& cells, int precision) {
  double largest = 0.0;
  for (const double value : attn::cells(cells)) {
    const double size = std::fabs(value);
    largest = size > largest && size <= std::numeric_limits<double>::max() ? size : largest;
  }
  const double too_large = 1e10;
  const double too_small = 0.5 * std::pow(10.0, -precision);
  if (largest >= too_large || (largest != 0.0 && largest < too_small)) return {precision, true};
  return {decimals_for(attn::cells(cells), precision), false};
}

std::vector<Digits> digits_for_columns(const Table& table, int precision) {
  const Shape shape = table.cells->shape();
  if (!table.columns_differ) return std::vector<Digits>(shape.columns, digits_for(*table.cells, precision));
  std::vector<Digits> digits;
  for (std::size_t j = 0; j < shape.columns; ++j) {
    Matrix column({shape.rows, 1});
    for (std::size_t i = 0; i < shape.rows; ++i) column(i, 0) = (*table.cells)(i, j);
    digits.push_back(digits_for(column, precision));
  }
  return digits;
}

Shown all_of(std::size_t count) {
  Shown shown{.places = std::vector<std::size_t>(count), .gap_after = count};
  std::iota(shown.places.begin(), shown.places.end(), std::size_t{0});
  return shown;
}

Shown ends_of(std::size_t count, std::size_t head, std::size_t tail) {
  if (head + tail + 1 >= count) return all_of(count);  // one line would only take the place of another
  Shown shown{.places = {}, .gap_after = head, .left_out = count - head - tail};
  for (std::size_t i = 0; i < head; ++i) shown.places.push_back(i);
  for (std::size_t i = count - tail; i < count; ++i) shown.places.push_back(i);
  return shown;
}

}  // namespace attn
