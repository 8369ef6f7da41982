#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/support/number.hpp"
#include "page/render/drawing.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- weights map

constexpr std::size_t longest_label_on_map = 24, most_rows = 64;

std::string short_label(const Axis& axis, std::size_t i, const Style& style) {
  return shortened(style.words(axis.label(i)), longest_label_on_map, style.unicode ? "…" : "~");
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

std::vector<std::size_t> all_places(std::size_t count) { return every_place(count).places; }

// --- heat map

constexpr std::size_t levels_of_legend = 5;  // that the legend tells

// Places that are shown, where there is no room for all.
std::vector<std::size_t> every(std::size_t step, std::size_t count) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; i += step) places.push_back(i);
  return places;
}

std::string one_in(std::size_t step) { return step > 1 ? fmt::format(", one in {}", step) : ""; }

// The numbers of the legend, from the smallest to the largest.
Matrix levels_of(const ValueRange& range) {
  if (range.is_empty()) return Matrix({0, 1});
  if (range.is_constant()) return Matrix({1, 1}, range.at(0.5));
  Matrix values({levels_of_legend, 1});
  for (std::size_t level = 0; level < levels_of_legend; ++level)
    values(level, 0) = range.at(static_cast<double>(level) / static_cast<double>(levels_of_legend - 1));
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
  const auto missing = std::ranges::find_if(cells(*table.cells), [&](double cell) { return !range.holds(cell); });
  if (missing != cells(*table.cells).end())
    entries.push_back({.text = "not finite", .level = std::numeric_limits<double>::quiet_NaN()});
  return entries;
}

bool has_labels_of_rows(const Table& table) {
  const Shape shape = table.cells->shape();
  if (shape.rows != shape.columns) return false;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    if (table.rows.label(i) != table.columns.label(i)) return false;
  }
  return true;
}

// Numbers above columns that are too narrow for words, and below the map what these stand for.
void add_columns(const Table& table, const Style& style, Drawing& drawing) {
  constexpr std::size_t most_listed = 40, apart = 5;
  const Drawing::Cells& cells = *drawing.cells;
  const std::size_t count = cells.columns.size(), next = count < apart ? 1 : apart;
  for (std::size_t i = next - 1; i < count; i += next) {
    const std::string number = fmt::format("{}", cells.columns[i] + 1);
    drawing.labels.push_back({{cells.at.x + i * cells.width, 0}, number, Drawing::Label::Kind::quiet});
  }
  if (!table.columns.labels) return;
  if (has_labels_of_rows(table))
    return drawing.legends.push_back({{std::string("The columns have the labels of the rows.")}});
  std::vector<Drawing::Entry> labels;
  for (const std::size_t j : cells.columns) {
    const std::string label = table.columns.label(j), number = fmt::format("{}", j + 1);
    if (label != number) labels.push_back({fmt::format("{}: {}", number, short_label(table.columns, j, style))});
  }
  if (count <= most_listed) drawing.legends.push_back(std::move(labels));
}

// --- word lines

constexpr std::size_t most_words = 40;
constexpr std::size_t longest_word = 16, between = 30;  // columns
constexpr int decimals = 2;

// Lines of words on both sides, so that the query is where it is in its sentence.
class WordLinesLayout {
 public:
  WordLinesLayout(const ShadedWords& words, const Style& style, const Metrics& metrics)
      : words_(words), style_(style), metrics_(metrics), weights_(*words.weights.cells) {
    choose_keys();
    const bool same_words = words.query_count == weights_.shape().columns;
    queries_ = same_words ? keys_ : std::vector<std::size_t>{words.query};
    if (same_words && std::ranges::find(queries_, words.query) == queries_.end()) {
      queries_.push_back(words.query);
      std::ranges::sort(queries_);
    }
  }

  Drawing drawn() && {
    const std::string query = word(words_.queries, words_.query);
    drawing_.title = fmt::format("Attention weights from {}", query);
    drawing_.description = description(query);
    std::size_t left = 0;
    for (const std::size_t place : queries_) left = std::max(left, width_of(word(words_.queries, place)));
    const std::size_t begin = left + metrics_.column, end = begin + between * metrics_.column;
    std::size_t from = 0;
    for (std::size_t i = 0; i < queries_.size(); ++i) {
      const std::string text = word(words_.queries, queries_[i]);
      const std::size_t y = line_of(i, queries_.size());
      if (queries_[i] == words_.query) from = y;
      drawing_.labels.push_back({{left - width_of(text), y}, text});
    }
    for (std::size_t i = 0; i < keys_.size(); ++i)
      drawing_.labels.push_back(
          {{end + metrics_.column, line_of(i, keys_.size())}, word(words_.weights.columns, keys_[i])});
    for (std::size_t head = 0; head < words_.heads; ++head) {
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        const double weight = weights_(head, keys_[i]);
        if (!std::isfinite(weight) || weight <= 0.0) continue;
        drawing_.lines.push_back({{{begin, from}, {end, end_of(i, head)}}, false, std::min(weight, 1.0), head});
      }
    }
    add_legend();
    return std::move(drawing_);
  }

 private:
  std::size_t width_of(std::string_view text) const { return display_width(text) * metrics_.column; }
  std::string word(const Axis& axis, std::size_t place) const {
    return shortened(style_.words(axis.label(place)), longest_word, style_.unicode ? "…" : "~");
  }
  double largest(std::size_t key) const {
    double most = 0.0;
    for (std::size_t head = 0; head < words_.heads; ++head) {
      if (std::isfinite(weights_(head, key))) most = std::max(most, weights_(head, key));
    }
    return most;
  }

  // In their order; of many those with the largest weights.
  void choose_keys() {
    keys_.resize(weights_.shape().columns);
    std::iota(keys_.begin(), keys_.end(), std::size_t{0});
    if (keys_.size() <= most_words || style_.full) return;
    std::ranges::stable_sort(keys_, std::ranges::greater(), [&](std::size_t key) { return largest(key); });
    keys_.resize(most_words);
    std::ranges::sort(keys_);
  }

  // The shorter of two columns of words is in the middle of the other.
  std::size_t line_of(std::size_t i, std::size_t count) const {
    const std::size_t lines = std::max(keys_.size(), queries_.size());
    return ((lines - count) / 2 + i) * metrics_.line + metrics_.line / 4;
  }

  // Where the line of a head ends: those of several are beside each other, around the middle of the word.
  std::size_t end_of(std::size_t key, std::size_t head) const {
    const std::size_t middle = line_of(key, keys_.size());
    return words_.heads < 2 ? middle : middle - metrics_.line / 4 + head * (metrics_.line / 2) / (words_.heads - 1);
  }

  std::string description(const std::string& query) const {
    std::string sentence =
        fmt::format("Lines from {} to {}, as heavy as the weights", query, count_of(keys_.size(), "word"));
    for (std::size_t head = 0; head < words_.heads && !keys_.empty(); ++head) {
      const std::optional<std::size_t> most = preferred_key(row(weights_, head), decimals);
      if (!most) continue;
      sentence +=
          fmt::format("; {}: most to {} ({})", words_.weights.rows.label(head),
                      place_in_lists(words_.weights.columns, *most), written_fixed(weights_(head, *most), decimals));
    }
    return sentence + ".";
  }

  void add_legend() {
    std::vector<Drawing::Entry> heads;
    for (std::size_t head = 0; head < words_.heads; ++head) heads.push_back({words_.weights.rows.label(head), head});
    drawing_.legends.push_back(std::move(heads));
    if (const std::size_t missing = weights_.shape().columns - keys_.size(); missing > 0)
      drawing_.legends.push_back({{fmt::format("left out: {} with smaller weights", count_of(missing, "word"))}});
  }

  const ShadedWords& words_;
  const Style& style_;
  const Metrics& metrics_;
  const Matrix& weights_;
  std::vector<std::size_t> keys_, queries_;  // that are shown
  Drawing drawing_;
};

}  // namespace

// --- weights map

Drawing lay_out_with_numbers(const Table& table, const Style& style, const Metrics& metrics) {
  const Shape shape = table.cells->shape();
  const auto without_numbers = [&] {
    return described(lay_out(HeatMap{table}, style, metrics), HeatMap{table}, style);
  };
  const std::size_t limit = metrics.limit * 3 / 2 / metrics.column;  // numbers are worth some room
  constexpr std::size_t least_width = 3;
  if (shape.rows > most_rows || shape.columns * least_width > limit) return without_numbers();
  std::vector<std::string> rows, columns;
  for (std::size_t i = 0; i < shape.rows; ++i) rows.push_back(short_label(table.rows, i, style));
  for (std::size_t j = 0; j < shape.columns; ++j) columns.push_back(short_label(table.columns, j, style));
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

// --- heat map

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
  const std::size_t head = metrics.slanted && shape.columns > 0 ? 1 : 0;  // a line that tells the columns
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string label = shown(rows[i]);
    const std::size_t left = (label_width - display_width(label)) * metrics.column;
    drawing.labels.push_back({{left, (i + head) * metrics.line}, std::move(label)});
  }
  ValueRange range;
  for (const double value : cells(*table.cells)) range.include(value);
  drawing.legends.push_back(legend_of(table, range, style.precision));
  drawing.cells = {.table = table,
                   .range = range,
                   .at = {(label_width + 2) * metrics.column, head * metrics.line},
                   .width = (shape.columns * 2 <= room ? 2 : 1) * metrics.column,
                   .rows = std::move(rows),
                   .columns = every(step, shape.columns)};
  if (head > 0) add_columns(table, style, drawing);
  return drawing;
}

// --- word lines

Drawing lay_out(const ShadedWords& words, const Style& style, const Metrics& metrics) {
  return WordLinesLayout(words, style, metrics).drawn();
}

}  // namespace attn
