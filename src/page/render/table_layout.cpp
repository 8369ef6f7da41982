#include "page/render/table_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/graph/name.hpp"
#include "core/support/number.hpp"
#include "data/files/cell_values.hpp"
#include "page/render/width.hpp"

namespace attn {

Formula symbol_of(const Table& table) {
  if (!table.symbol.plain.empty()) return table.symbol;
  return table.array.empty() ? Formula{table.title, ""} : symbol(name_from_text(table.title));
}

void Digits::append(std::string& out, double value) const {
  if (std::isnan(value)) {
    out += "NaN";  // it has no sign, and is written so wherever it stands
  } else if (scientific) {
    append_scientific(out, value, decimals);
  } else if (spelling == Spelling::percent) {
    append_fixed(out, 100.0 * value, 0);
  } else if (spelling == Spelling::without_zero && decimals > 0) {
    const std::string whole = written_fixed(value, decimals);
    const std::size_t point = whole.find('.');
    // From 0 to 1. What only rounds to 1 is no bare 1.
    if (whole.front() == '0') {
      out += whole.substr(point);
    } else {
      out += value == 1.0 ? whole.substr(0, point) : whole.substr(0, std::max(point + 2, whole.size() - 1));
    }
  } else {
    append_fixed(out, value, decimals);
  }
}

std::size_t Digits::width(double value) const {
  if (!scientific && spelling == Spelling::usual) return static_cast<std::size_t>(fixed_width(value, decimals));
  std::string text;
  append(text, value);
  return text.size();
}

std::size_t Digits::after_units() const {
  return decimals > 0 && spelling != Spelling::percent ? static_cast<std::size_t>(decimals) + 1 : 0;
}

double largest_size(std::span<const double> cells) {
  double largest = 0.0;
  for (const double value : cells) {
    const double size = std::fabs(value);
    largest = size > largest && size <= std::numeric_limits<double>::max() ? size : largest;
  }
  return largest;
}

Digits digits_for(const Matrix& cells, int precision) {
  const double largest = largest_size(attn::cells(cells));
  const bool are_whole =
      std::ranges::all_of(attn::cells(cells), [](double x) { return !std::isfinite(x) || x == std::nearbyint(x); });
  const double too_large = are_whole ? 1e15 : 1e10;  // counts are told to the last digit
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

TableWalk::TableWalk(const Table& table, int precision)
    : table_(table),
      marked_(table.marked()),
      precision_(precision),
      digits_(digits_for_columns(table, precision)),
      strengths_(table) {}

std::string TableWalk::column_labels(const RowForm& form, Columns columns, bool with_sums) const {
  std::string line;
  const auto append = [&](std::string_view label) {
    for (const std::string_view piece : {form.column.before, label, form.column.after}) line += piece;
  };
  for (std::size_t j = columns.first; j < columns.first + columns.count; ++j)
    append(form.label_of(table_.columns.label(j), j == marked_.column));
  if (with_sums) append(form.total);
  return line;
}

bool TableWalk::write_rows(const RowForm& form, Columns columns, bool with_sums, Sink& sink) const {
  std::atomic<bool> masked = false;
  const auto append = [&](std::size_t i, std::string& line) {
    if (append_row(form, i, columns, with_sums, line)) masked = true;
  };
  attn::write_rows({table_.cells->shape().rows, columns.count}, append, sink);
  return masked;
}

bool TableWalk::append_row(const RowForm& form, std::size_t i, Columns columns, bool with_sums,
                           std::string& line) const {
  const auto append_number = [&](double value, const Digits& digits) {
    if (form.number) return form.number(line, value, digits);
    digits.append(line, value);
  };
  bool masked = false;
  const std::span<const double> values = row(*table_.cells, i);
  line += form.label.before;
  if (!form.row_labels.empty()) {
    line += form.row_labels[i];
  } else if (form.label_of) {
    line += form.label_of(table_.rows.label(i), i == marked_.row);
  }
  line += form.label.after;
  for (std::size_t j = columns.first; j < columns.first + columns.count; ++j) {
    const bool is_masked = attn::is_masked(table_, i, j);
    if (j > columns.first) line += form.between;
    line += form.cell.before;
    if (form.shade) form.shade(line, is_masked ? 0.0 : strengths_.of(values[j]));
    if (is_masked) {
      line += form.masked;
    } else {
      append_number(values[j], digits_[j]);
    }
    line += form.cell.after;
    masked = masked || is_masked;
  }
  if (with_sums) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    line += form.sum.before;
    append_number(sum, digits_for(Matrix({1, 1}, sum), precision_));
    line += form.sum.after;
  }
  line += form.end;
  return masked;
}

Digits with_at_most(int decimals, Digits digits, double largest) {
  if (digits.scientific) return digits;
  const int of_two_digits = largest > 0.0 ? 1 - static_cast<int>(std::floor(std::log10(largest))) : 0;
  digits.decimals = std::min(digits.decimals, std::max({decimals, least_decimals, of_two_digits}));
  return digits;
}

std::size_t ShownPlaces::gap_before(std::size_t n) const {
  const std::size_t from = n == 0 ? 0 : places[n - 1] + 1, to = n < places.size() ? places[n] : count;
  return to - from;
}

std::size_t ShownPlaces::gaps() const {
  std::size_t gaps = 0;
  for (std::size_t n = 0; n <= places.size(); ++n) gaps += std::size_t{gap_before(n) > 0};
  return gaps;
}

ShownPlaces every_place(std::size_t count) {
  ShownPlaces shown{.places = std::vector<std::size_t>(count), .count = count};
  std::iota(shown.places.begin(), shown.places.end(), std::size_t{0});
  return shown;
}

ShownPlaces chosen_places(std::size_t count, std::vector<std::size_t> places) {
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return {.places = std::move(places), .count = count};
}

ShownPlaces shown_rows(const Table& table) {
  constexpr std::size_t first = 16, last = 4, most_whole = 24;
  const std::size_t count = table.cells->shape().rows;
  if (count <= most_whole) return every_place(count);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < first; ++i) places.push_back(i);
  for (std::size_t i = count - last; i < count; ++i) places.push_back(i);
  for (const TablePlace& place : table.told) {
    if (place.row) places.push_back(*place.row);
  }
  // One line for a gap would only take the place of a row.
  const ShownPlaces with_gaps = chosen_places(count, places);
  for (std::size_t n = 1; n < with_gaps.places.size(); ++n) {
    if (with_gaps.gap_before(n) == 1) places.push_back(with_gaps.places[n] - 1);
  }
  return chosen_places(count, std::move(places));
}

std::vector<std::string> short_labels(const Axis& axis, const std::vector<std::size_t>& places, std::size_t longest,
                                      const Style& style) {
  const std::string ellipsis = style.unicode ? "…" : "...";
  const auto cut_before = [&](const std::string& word, const std::string& behind) {
    const std::size_t taken = display_width(behind);
    return shortened(word, std::max(longest, taken + 1) - taken, ellipsis) + behind;
  };
  std::vector<std::string> words, labels;
  std::map<std::string, std::size_t> count;
  for (const std::size_t i : places) {
    const std::string whole = style.words(axis.label(i));
    words.push_back(whole);
    labels.push_back(cut_before(whole, style.words(place_in_lists(axis, i)).substr(whole.size())));
    ++count[labels.back()];
  }
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (count.at(labels[n]) > 1) labels[n] = cut_before(words[n], fmt::format(" ({})", places[n] + 1));
  }
  return labels;
}

std::vector<std::size_t> columns_by_importance(const Table& table, const ShownPlaces& rows) {
  const std::size_t count = table.cells->shape().columns;
  std::vector<std::size_t> order;
  for (const TablePlace& place : table.told) {
    if (place.column) order.push_back(*place.column);
  }
  if (table.heat == Heat::weights) {
    std::vector<double> largest(count, 0.0);
    for (const std::size_t i : rows.places) {
      for (std::size_t j = 0; j < count; ++j) largest[j] = std::fmax(largest[j], (*table.cells)(i, j));
    }
    std::vector<std::size_t> by_weight = every_place(count).places;
    std::ranges::stable_sort(by_weight, [&](std::size_t a, std::size_t b) { return largest[a] > largest[b]; });
    order.insert(order.end(), by_weight.begin(), by_weight.end());
  } else {
    // Every third one from the end.
    for (std::size_t n = 1, head = 0, tail = count; n <= count; ++n) order.push_back(n % 3 == 0 ? --tail : head++);
  }
  std::vector<bool> seen(count, false);
  std::erase_if(order, [&](std::size_t j) {
    const bool again = seen[j];
    seen[j] = true;
    return again;
  });
  return order;
}

}  // namespace attn
