#include "render/weight_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/beside.hpp"
#include "render/color.hpp"
#include "render/drawing.hpp"
#include "render/table_layout.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t margin = 2;

// A small picture: at most so many cells high and wide, and so many columns of text in all.
constexpr std::size_t most_cells_of_map = 20, width_of_map = 24;

// The largest weights of blocks of neighbors, with the places of the first ones as labels.
Table reduced(const Table& table) {
  const Shape shape = table.cells->shape();
  const auto step_for = [](std::size_t count) { return (count + most_cells_of_map - 1) / most_cells_of_map; };
  const std::size_t down = std::max<std::size_t>(step_for(shape.rows), 1),
                    across = std::max<std::size_t>(step_for(shape.columns), 1);
  Matrix cells({(shape.rows + down - 1) / down, (shape.columns + across - 1) / across}, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      double& cell = cells(i / down, j / across);
      cell = std::fmax(cell, (*table.cells)(i, j));
    }
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < shape.rows; i += down) labels.push_back(std::to_string(i + 1));
  Table small = table;
  small.rows = axis(table.rows.name, std::move(labels));
  small.columns = axis(table.columns.name);
  small.cells = std::make_shared<const Matrix>(std::move(cells));
  return small;
}

// The words of one row in lines, each beside the row's label, and below each its weight where colors do not
// tell it.
class WordLines {
 public:
  WordLines(const Table& table, const Style& style) : table_(table), style_(style), shading_(table, style) {
    for (std::size_t i = 0; i < table.cells->shape().rows; ++i)
      label_width_ = std::max(label_width_, display_width(style.words(table.rows.label(i))));
    label_width_ = std::min(label_width_, style.limit() / 3);
    columns_ = all_of(table.cells->shape().columns);
    if (style.elides() && lines_of(columns_).size() > most_lines) leave_out_words();
  }

  void write(Sink& sink) const {
    const std::vector<std::vector<std::size_t>> lines = lines_of(columns_);
    for (std::size_t i = 0; i < table_.cells->shape().rows; ++i) {
      std::string label = shortened(style_.words(table_.rows.label(i)), label_width_, ellipsis());
      for (const std::vector<std::size_t>& line : lines) {
        const std::string indent(label_width_ - display_width(label), ' ');
        write_line(label + indent, i, line, &WordLines::append_word, sink);
        label.clear();
        if (!shading_.tells_sizes())
          write_line(std::string(label_width_, ' '), i, line, &WordLines::append_percent, sink);
      }
    }
    write_legend(sink);
  }

 private:
  static constexpr std::size_t most_lines = 3, fewer_lines = 2;  // of words, for each row

  using Append = void (WordLines::*)(std::string& text, std::size_t row, std::size_t column) const;

  std::string ellipsis() const { return style_.unicode ? "…" : "..."; }

  bool is_masked(std::size_t i, std::size_t j) const { return attn::is_masked(table_, i, j); }

  // "27", or nothing where it would be 0.
  std::string percent(std::size_t i, std::size_t j) const {
    if (is_masked(i, j)) return style_.unicode ? "·" : ".";
    const double weight = (*table_.cells)(i, j);
    if (!std::isfinite(weight)) return "?";
    const std::string text = fmt::format("{:.0f}", 100.0 * weight);
    return text == "0" || text == "-0" ? "" : text;
  }

  std::string word(std::size_t j) const {
    constexpr std::size_t longest = 16;
    return shortened(style_.words(table_.columns.label(j)), longest, ellipsis());
  }

  // A word is as wide as the widest of what stands below it.
  std::size_t width(std::size_t j) const {
    std::size_t widest = std::max<std::size_t>(display_width(word(j)), 1);
    if (shading_.tells_sizes()) return widest;
    for (std::size_t i = 0; i < table_.cells->shape().rows; ++i)
      widest = std::max(widest, display_width(percent(i, j)));
    return widest;
  }

  // The shown words in lines, as places among them.
  std::vector<std::vector<std::size_t>> lines_of(const Shown& shown) const {
    const std::size_t limit = style_.limit(), before = margin + label_width_ + 1;
    std::vector<std::vector<std::size_t>> lines(1);
    std::size_t used = before;
    for (std::size_t n = 0; n < shown.places.size(); ++n) {
      const std::size_t gap = shown.gap_before(n) > 0 ? display_width(ellipsis()) + 1 : 0;
      const std::size_t wanted = gap + 1 + width(shown.places[n]);
      if (used + wanted > limit && !lines.back().empty()) {
        lines.emplace_back();
        used = before;
      }
      used += wanted;
      lines.back().push_back(n);
    }
    return lines;
  }

  // The words with the largest weights stay.
  void leave_out_words() {
    const std::vector<std::size_t> order = columns_by_importance(table_, all_of(table_.cells->shape().rows));
    std::size_t kept = std::min(order.size(), fewer_lines * style_.limit() / 2);
    do {
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
      columns_ = some_of(order.size(), {order.begin(), end});
    } while (lines_of(columns_).size() > fewer_lines && --kept > 1);
  }

  void write_line(const std::string& begin, std::size_t i, const std::vector<std::size_t>& places,
                  Append append, Sink& sink) const {
    std::string line(margin, ' ');
    line += begin + ' ';
    for (const std::size_t n : places) {
      if (columns_.gap_before(n) > 0)
        line += ' ' + (append == &WordLines::append_word ? ellipsis() : blank());
      line += ' ';
      (this->*append)(line, i, columns_.places[n]);
    }
    const bool ends = !places.empty() && places.back() + 1 == columns_.places.size();
    if (ends && append == &WordLines::append_word && columns_.gap_before(columns_.places.size()) > 0)
      line += ' ' + ellipsis();
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) sink.write(line + "\n");
  }

  std::string blank() const { return std::string(display_width(ellipsis()), ' '); }

  void append_word(std::string& text, std::size_t i, std::size_t j) const {
    const std::string shown = word(j), color = is_masked(i, j) ? "" : shading_.of((*table_.cells)(i, j));
    const std::size_t blanks = width(j) - display_width(shown);
    text += color + shown + (color.empty() ? "" : plain(style_)) + std::string(blanks, ' ');
  }

  void append_percent(std::string& text, std::size_t i, std::size_t j) const {
    const std::string shown = percent(i, j);
    text += shown + std::string(width(j) - display_width(shown), ' ');
  }

  void write_legend(Sink& sink) const {
    std::string legend;
    const auto add = [&](const std::string& note) { legend += (legend.empty() ? "" : "; ") + note; };
    if (!shading_.tells_sizes()) add("below each word its weight in percent, unless it rounds to 0");
    if (has_masked() && !shading_.tells_sizes()) add(style_.unicode ? "· masked" : ". masked");
    if (columns_.left_out() > 0) {
      add(fmt::format("{} {} of {} words with small weights left out (--full)", ellipsis(),
                      columns_.left_out(), columns_.count));
    }
    if (legend.empty()) return;
    for (const std::string& line : wrap(legend, style_.limit() - margin))
      sink.write(std::string(margin, ' ') + dim(style_) + line + plain(style_) + "\n");
  }

  bool has_masked() const {
    for (std::size_t i = 0; i < table_.cells->shape().rows; ++i) {
      for (const std::size_t j : columns_.places) {
        if (is_masked(i, j)) return true;
      }
    }
    return false;
  }

  const Table& table_;
  const Style& style_;
  Shading shading_;
  std::size_t label_width_ = 0;
  Shown columns_;
};

}  // namespace

void write_heat_maps(const HeatMaps& maps, const Style& style, Sink& sink) {
  ValueRange range;
  range.include(0.0);
  for (const Table& table : maps.tables) {
    for (const double weight : cells(*table.cells)) range.include(weight);
  }
  if (range.is_constant()) range.include(1.0);  // nothing but zeros
  Beside beside(style.limit(), sink);
  for (const Table& table : maps.tables) {
    if (table.cells->size() == 0) continue;
    Drawing drawing = lay_out(HeatMap{reduced(table)}, style, Metrics{.limit = width_of_map});
    drawing.caption = table.title;
    drawing.cells->range = range;
    drawing.legends.clear();
    Style narrow = style;
    narrow.width = width_of_map + margin;
    beside.add(written_lines([&](Sink& lines) { write_drawing(drawing, narrow, lines); }));
  }
  beside.finish_line();
  if (maps.tables.empty()) return;
  // A legend for all: that of the smallest and the largest weight.
  Table ends = maps.tables.front();
  Matrix both({1, 2});
  both(0, 0) = range.at(0.0);
  both(0, 1) = range.at(1.0);
  ends.cells = std::make_shared<const Matrix>(std::move(both));
  ends.rows = ends.columns = axis("");
  Drawing legend = lay_out(HeatMap{ends}, style, characters_of(style));
  legend.caption.reset();
  legend.labels.clear();
  legend.cells->rows.clear();
  write_drawing(legend, style, sink);
  const auto is_reduced = [](const Table& table) {
    return std::max(table.cells->shape().rows, table.cells->shape().columns) > most_cells_of_map;
  };
  if (std::ranges::any_of(maps.tables, is_reduced)) {
    sink.write(std::string(margin, ' ') + dim(style) +
               "neighbors share a cell, which shows their largest weight" + plain(style) + "\n");
  }
}

void write_shaded_words(const ShadedWords& words, const Style& style, Sink& sink) {
  WordLines(words.weights, style).write(sink);
}

}  // namespace attn
