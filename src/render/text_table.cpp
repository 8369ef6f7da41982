#include "render/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "files/text_rows.hpp"
#include "render/color.hpp"
#include "render/table_layout.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

// How long labels may be where a table has to fit a terminal: a row's label takes its room once, a column's
// may make the column wider than its numbers. Elsewhere only what would be unreadable is cut.
constexpr std::size_t longest_row_label = 24;
constexpr std::size_t longest_column_label = 16;
constexpr std::size_t longest_whole_label = 200;
constexpr std::string_view margin = "  ";

class TextTable {
 public:
  TextTable(const Table& table, const Style& style, Sink& sink)
      : table_(table),
        style_(style),
        sink_(sink),
        ellipsis_(style.unicode ? "…" : "..."),
        show_sums_(table.row_sums),
        shading_(table, style) {
    digits_ = digits_for_columns(table, style.precision);
    const Shape shape = table.cells->shape();
    rows_ = style.elides() ? ends_of(shape.rows, 16, 4) : all_of(shape.rows);
    measure_labels();
    measure_columns(shape.columns);
    measure_sums();
    if (style.elides()) fit(shape.columns);
  }

  void write() {
    write_header();
    write_rule();
    const auto append = [this](std::size_t i, std::string& text) {
      if (rows_.left_out > 0 && i == rows_.gap_after) append_gap_row(text);
      append_row(text, rows_.places[i]);
    };
    write_rows({rows_.places.size(), columns_.places.size()}, append, sink_);
    write_legend();
  }

 private:
  // The labels of quantities are our own words, those of a matrix are the reader's.
  std::string written(const std::string& label, std::size_t longest) const {
    const std::string text = table_.columns_differ ? style_.signs(label) : style_.words(label);
    return shortened(text, style_.elides() ? longest : longest_whole_label, ellipsis_);
  }

  std::string row_label(std::size_t i) const { return written(table_.rows.label(i), longest_row_label); }

  std::string column_label(std::size_t j) const {
    return written(table_.columns.label(j), longest_column_label);
  }

  void measure_labels() {
    title_ = style_.signs(table_.title);
    label_width_ = display_width(title_);
    for (const std::size_t i : rows_.places)
      label_width_ = std::max(label_width_, display_width(row_label(i)));
  }

  void measure_columns(std::size_t count) {
    widths_.resize(count);
    for (std::size_t j = 0; j < count; ++j) widths_[j] = display_width(column_label(j));
    for (const std::size_t i : rows_.places) {
      const std::span<const double> values = row(*table_.cells, i);
      for (std::size_t j = 0; j < count; ++j) {
        if (!is_masked(table_, i, j)) widths_[j] = std::max(widths_[j], digits_[j].width(values[j]));
      }
    }
    for (std::size_t j = 0; j < count; ++j) widths_[j] = std::max(widths_[j], after_units(j) + 1);
    columns_ = all_of(count);
  }

  // The places of a number's point and decimals.
  std::size_t after_units(std::size_t j) const {
    return digits_[j].decimals > 0 ? static_cast<std::size_t>(digits_[j].decimals) + 1 : 0;
  }

  void measure_sums() {
    if (!show_sums_) return;
    sums_ = Matrix({table_.cells->shape().rows, 1});
    for (const std::size_t i : rows_.places) {
      const std::span<const double> values = row(*table_.cells, i);
      sums_(i, 0) = std::accumulate(values.begin(), values.end(), 0.0);
    }
    int decimals = 0;
    for (const std::size_t i : rows_.places) {
      const double sum = sums_(i, 0);
      decimals = std::max(decimals, digits_for(Matrix({1, 1}, sum), style_.precision).decimals);
    }
    sum_digits_ = {decimals, false};
    sum_width_ = 1;
    for (const std::size_t i : rows_.places)
      sum_width_ = std::max(sum_width_, sum_digits_.width(sums_(i, 0)));
    sum_width_ = std::max(sum_width_, display_width(sum_title()));
  }

  std::string_view sum_title() const { return style_.unicode ? "Σ" : "sum"; }

  // The width of the table when these columns are shown.
  std::size_t total(const Shown& shown) const {
    std::size_t width = margin.size() + label_width_ + 2;
    for (const std::size_t j : shown.places) width += widths_[j] + separation_;
    if (shown.left_out > 0) width += display_width(ellipsis_) + separation_;
    if (show_sums_) width += 3 + sum_width_;
    return width;
  }

  // Narrower gaps first; then columns are left out in the middle, more kept at the beginning than at the end.
  void fit(std::size_t count) {
    if (total(columns_) <= style_.width) return;
    separation_ = 1;
    if (total(columns_) <= style_.width) return;
    separation_ = 2;
    for (std::size_t kept = std::min(count, style_.width / separation_); kept-- > 1;) {
      columns_ = ends_of(count, kept - kept / 3, kept / 3);
      if (total(columns_) <= style_.width) return;
    }
    show_sums_ = false;  // one column is all there is room for
  }

  static void pad(std::string& line, std::size_t width) { line.append(width, ' '); }

  void begin_line(std::string& line, const std::string& label) const {
    line += margin;
    line += label;
    pad(line, label_width_ - display_width(label));
    line += style_.unicode ? " │" : " |";
  }

  template <class WriteCell>
  void write_cells(std::string& line, WriteCell&& write_cell) const {
    for (std::size_t n = 0; n < columns_.places.size(); ++n) {
      if (columns_.left_out > 0 && n == columns_.gap_after) {
        pad(line, separation_);
        line += ellipsis_;
      }
      pad(line, separation_);
      write_cell(columns_.places[n]);
    }
    if (columns_.left_out > 0 && columns_.gap_after == columns_.places.size()) {
      pad(line, separation_);
      line += ellipsis_;
    }
  }

  void write_header() {
    std::string line;
    begin_line(line, title_);
    write_cells(line, [&](std::size_t j) {
      const std::string text = column_label(j);
      pad(line, widths_[j] - display_width(text));
      line += text;
    });
    if (show_sums_) {
      line += style_.unicode ? " │ " : " | ";
      pad(line, sum_width_ - display_width(sum_title()));
      line += sum_title();
    }
    sink_.write(line + "\n");
  }

  void write_rule() {
    const std::string_view dash = style_.unicode ? "─" : "-", cross = style_.unicode ? "┼" : "+";
    const auto dashes = [&](std::string& line, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) line += dash;
    };
    std::string line(margin);
    dashes(line, label_width_ + 1);
    line += cross;
    std::size_t inner = columns_.left_out > 0 ? display_width(ellipsis_) + separation_ : 0;
    for (const std::size_t j : columns_.places) inner += widths_[j] + separation_;
    dashes(line, inner + (show_sums_ ? 1 : 0));
    if (show_sums_) {
      line += cross;
      dashes(line, sum_width_ + 1);
    }
    sink_.write(line + "\n");
  }

  void append_row(std::string& line, std::size_t i) {
    begin_line(line, row_label(i));
    const std::span<const double> values = row(*table_.cells, i);
    write_cells(line, [&](std::size_t j) { write_cell(line, i, j, values[j]); });
    if (show_sums_) {
      line += style_.unicode ? " │ " : " | ";
      pad(line, sum_width_ - sum_digits_.width(sums_(i, 0)));
      sum_digits_.append(line, sums_(i, 0));
    }
    while (line.ends_with(' ')) line.pop_back();
    line += '\n';
  }

  void write_cell(std::string& line, std::size_t i, std::size_t j, double value) {
    if (is_masked(table_, i, j)) {
      if (!masked_) masked_ = true;
      // Where the points of the numbers above and below it stand.
      const std::size_t after_point = after_units(j) == 0 ? 0 : after_units(j) - 1;
      pad(line, widths_[j] - after_point - 1);
      line += style_.unicode ? "·" : ".";
      pad(line, after_point);
      return;
    }
    const std::size_t begin = line.size();
    digits_[j].append(line, value);
    const std::size_t written = line.size() - begin;
    if (written < widths_[j]) line.insert(begin, widths_[j] - written, ' ');
    if (style_.colors == Colors::none) return;
    const std::string color = shading_.of(value);
    if (!color.empty()) {
      line.insert(begin - separation_, color);  // with the gap before it: no stripes between neighbors
      line += plain(style_);
    }
  }

  void append_gap_row(std::string& text) const {
    begin_line(text, ellipsis_);
    text += fmt::format("  {} more rows\n", rows_.left_out);
  }

  void write_legend() {
    std::string legend;
    const auto add = [&](const std::string& note) { legend += (legend.empty() ? "" : "; ") + note; };
    if (masked_) add(style_.unicode ? "· masked" : ". masked");
    if (columns_.left_out > 0)
      add(fmt::format("{} {} of {} columns left out (--full)", ellipsis_, columns_.left_out, widths_.size()));
    else if (rows_.left_out > 0)
      add("--full shows all");
    if (legend.empty()) return;
    sink_.write(std::string(margin) + dim(style_) + legend + plain(style_) + "\n");
  }

  const Table& table_;
  const Style& style_;
  Sink& sink_;
  std::string ellipsis_;
  std::string title_;
  std::vector<Digits> digits_;
  Digits sum_digits_;
  Shown rows_;
  Shown columns_;
  std::size_t label_width_ = 0;
  std::vector<std::size_t> widths_;
  std::size_t separation_ = 2;
  Matrix sums_;
  bool show_sums_;
  std::size_t sum_width_ = 0;
  Shading shading_;
  std::atomic<bool> masked_ = false;  // rows are made by several threads
};

}  // namespace

void write_text_table(const Table& table, const Style& style, Sink& sink) {
  TextTable(table, style, sink).write();
}

namespace {

constexpr std::size_t most_cells_beside = 400;  // a larger table stands alone
constexpr std::size_t gap = 2;                  // between tables, beside their own margin

// A table as it would be written, line by line.
struct WrittenTable {
  std::vector<std::string> lines;
  std::size_t width = 0;
};

WrittenTable written(const Table& table, const Style& style) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write_text_table(table, style, sink);
  sink.flush();
  WrittenTable result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    result.lines.push_back(text.substr(begin, end - begin));
    result.width = std::max(result.width, visible_width(result.lines.back()));
    begin = end + 1;
  }
  return result;
}

void write_beside(const std::vector<WrittenTable>& tables, Sink& sink) {
  std::size_t height = 0;
  for (const WrittenTable& table : tables) height = std::max(height, table.lines.size());
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    std::size_t missing = 0;  // blanks are written only before something
    for (const WrittenTable& table : tables) {
      const std::string text = i < table.lines.size() ? table.lines[i] : "";
      if (!text.empty()) line += std::string(missing, ' ') + text;
      missing = (text.empty() ? missing : 0) + table.width + gap - visible_width(text);
    }
    sink.write(line + "\n");
  }
}

}  // namespace

void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink) {
  std::vector<WrittenTable> line;
  std::size_t used = 0;
  bool first = true;
  const auto finish_line = [&] {
    if (line.empty()) return;
    if (!first) sink.write("\n");
    first = false;
    write_beside(line, sink);
    line.clear();
    used = 0;
  };
  for (const Table& table : tables) {
    if (table.cells->size() > most_cells_beside) {
      finish_line();
      if (!first) sink.write("\n");
      first = false;
      write_text_table(table, style, sink);
      continue;
    }
    WrittenTable next = written(table, style);
    if (used + next.width > style.limit()) finish_line();
    used += next.width + gap;
    line.push_back(std::move(next));
  }
  finish_line();
}

}  // namespace attn
