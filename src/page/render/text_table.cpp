#include "page/render/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "data/files/cells.hpp"
#include "page/render/style.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {

// --- text table

namespace {

// How long labels may be where a table has to fit a terminal: a row's label takes its room once, a column's
// may make the column wider than its numbers. Elsewhere only what would be unreadable is cut.
constexpr std::size_t longest_row_label = 24;
constexpr std::size_t longest_column_label = 16;
constexpr std::size_t longest_whole_label = 200;
// A longer name stands above its table, unless a label of a row is as long.
constexpr std::size_t longest_name_within = 30;
constexpr std::string_view margin_of_tables = "  ";

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
    rows_ = style.elides() ? shown_rows(table) : all_of(shape.rows);
    columns_ = all_of(shape.columns);
    measure_labels();
    measure_columns();
    measure_sums();
    if (style.elides()) fit();
  }

  void write() {
    if (name_above_) sink_.write(std::string(margin_of_tables) + title_ + "\n");
    write_header();
    write_rule();
    const auto append = [this](std::size_t n, std::string& text) {
      append_gap_row(text, n);
      append_row(text, rows_.places[n]);
    };
    write_rows({rows_.places.size(), columns_.places.size()}, append, sink_);
    std::string behind;
    append_gap_row(behind, rows_.places.size());
    sink_.write(behind);
    write_legend();
  }

  /// Whether all of its columns are shown, with all of their decimals.
  bool is_whole() const { return columns_.left_out() == 0 && !was_rounded_; }

  void set_separation(std::size_t blanks) { separation_ = blanks; }

  /// Gives both the same columns, one below the other.
  void align_with(TextTable& other) {
    label_width_ = other.label_width_ = std::max(label_width_, other.label_width_);
    for (std::size_t j = 0; j < widths_.size(); ++j)
      widths_[j] = other.widths_[j] = std::max(widths_[j], other.widths_[j]);
  }

 private:
  // The labels of quantities are our own words, those of a matrix are the reader's.
  std::string written(const std::string& label, std::size_t longest) const {
    const std::string text = table_.columns_differ ? style_.signs(label) : style_.words(label);
    return shortened(text, style_.elides() ? longest : longest_whole_label, ellipsis_);
  }

  std::string row_label(std::size_t i) const { return written(table_.rows.label(i), longest_row_label); }

  std::string column_label(std::size_t j) const { return written(table_.columns.label(j), longest_column_label); }

  void measure_labels() {
    title_ = style_.signs(table_.title);
    for (const std::size_t i : rows_.places) {
      const std::size_t mark = i == table_.marked_row ? 2 : 0;
      label_width_ = std::max(label_width_, display_width(row_label(i)) + mark);
    }
    const std::size_t wanted = display_width(title_);
    name_above_ = wanted > longest_name_within && wanted > label_width_;
    labels_alone_ = label_width_;
    if (!name_above_) label_width_ = std::max(label_width_, wanted);
  }

  void measure_columns() {
    const std::size_t count = columns_.count;
    widths_.assign(count, 0);
    for (std::size_t j = 0; j < count; ++j)
      widths_[j] = display_width(column_label(j)) + (j == table_.marked_column ? 2 : 0);
    for (const std::size_t i : rows_.places) {
      const std::span<const double> values = row(*table_.cells, i);
      for (std::size_t j = 0; j < count; ++j) {
        if (!is_masked(table_, i, j)) widths_[j] = std::max(widths_[j], digits_[j].width(values[j]));
      }
    }
    for (std::size_t j = 0; j < count; ++j) widths_[j] = std::max(widths_[j], after_units(j) + 1);
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
    measure_width_of_sums();
  }

  void measure_width_of_sums() {
    if (!show_sums_) return;
    sum_width_ = 1;
    for (const std::size_t i : rows_.places) sum_width_ = std::max(sum_width_, sum_digits_.width(sums_(i, 0)));
    sum_width_ = std::max(sum_width_, display_width(sum_title()));
  }

  std::string_view sum_title() const { return style_.unicode ? "Σ" : "sum"; }

  // The width of the table when these columns are shown.
  std::size_t total(const Shown& shown) const {
    std::size_t width = margin_of_tables.size() + label_width_ + 2;
    for (const std::size_t j : shown.places) width += widths_[j] + separation_;
    width += shown.gaps() * (display_width(ellipsis_) + separation_);
    if (show_sums_) width += 3 + sum_width_;
    return width;
  }

  bool fits() const { return total(columns_) <= style_.width; }

  // The name above it first, then narrower gaps, then fewer decimals. Only then columns are left out, and a
  // name that was short enough stands in the table again.
  void fit() {
    if (fits()) return;
    const std::size_t with_name = std::exchange(label_width_, labels_alone_);
    const bool was_above = std::exchange(name_above_, with_name > labels_alone_ || name_above_);
    if (fits()) return;
    separation_ = 1;
    if (fits()) return;
    for (int decimals = style_.precision - 1; decimals >= least_decimals && !style_.is_precise; --decimals) {
      round_to(decimals);
      if (fits()) return;
    }
    separation_ = 2;
    label_width_ = with_name;
    name_above_ = was_above;
    leave_out_columns();
  }

  void round_to(int decimals) {
    const Matrix& cells = *table_.cells;
    const double largest = largest_size(attn::cells(cells));
    for (std::size_t j = 0; j < digits_.size(); ++j) {
      const Digits fewer =
          with_at_most(decimals, digits_[j], table_.columns_differ ? largest_size(column(cells, j)) : largest);
      if (fewer.decimals == digits_[j].decimals) continue;
      digits_[j] = fewer;
      was_rounded_ = true;
    }
    sum_digits_ = with_at_most(decimals, sum_digits_, 1.0);
    measure_columns();
    measure_width_of_sums();
  }

  static std::vector<double> column(const Matrix& cells, std::size_t j) {
    std::vector<double> values;
    for (std::size_t i = 0; i < cells.shape().rows; ++i) values.push_back(cells(i, j));
    return values;
  }

  void leave_out_columns() {
    const std::size_t count = columns_.count;
    const std::vector<std::size_t> order = columns_by_importance(table_, rows_);
    for (std::size_t kept = std::min(count, style_.width / separation_); kept-- > 1;) {
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
      columns_ = some_of(count, {order.begin(), end});
      if (fits()) return;
    }
    show_sums_ = false;  // one column is all there is room for
  }

  static void pad(std::string& line, std::size_t width) { line.append(width, ' '); }

  void begin_line(std::string& line, const std::string& label) const {
    line += margin_of_tables;
    line += label;
    pad(line, label_width_ - display_width(label));
    line += style_.unicode ? " │" : " |";
  }

  template <class WriteCell>
  void write_cells(std::string& line, WriteCell&& write_cell) const {
    for (std::size_t n = 0; n <= columns_.places.size(); ++n) {
      if (columns_.gap_before(n) > 0) {
        pad(line, separation_);
        line += ellipsis_;
      }
      if (n == columns_.places.size()) return;
      pad(line, separation_);
      write_cell(columns_.places[n]);
    }
  }

  void write_header() {
    std::string line;
    begin_line(line, name_above_ ? "" : title_);
    write_cells(line, [&](std::size_t j) {
      const std::string text = (j == table_.marked_column ? column_mark() : "") + column_label(j);
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
    std::string line(margin_of_tables);
    dashes(line, label_width_ + 1);
    line += cross;
    std::size_t inner = columns_.gaps() * (display_width(ellipsis_) + separation_);
    for (const std::size_t j : columns_.places) inner += widths_[j] + separation_;
    dashes(line, inner + (show_sums_ ? 1 : 0));
    if (show_sums_) {
      line += cross;
      dashes(line, sum_width_ + 1);
    }
    sink_.write(line + "\n");
  }

  void append_row(std::string& line, std::size_t i) {
    begin_line(line, (i == table_.marked_row ? row_mark() : "") + row_label(i));
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
    const bool is_marked = i == table_.marked_row || j == table_.marked_column;
    const std::string color = shading_.of(value) + (is_marked ? bold(style_) : "");
    if (!color.empty()) {
      line.insert(begin - separation_, color);  // with the gap before it: no stripes between neighbors
      line += plain(style_);
    }
  }

  // Where rows are left out before the n-th that is shown.
  void append_gap_row(std::string& text, std::size_t n) const {
    const std::size_t left_out = rows_.gap_before(n);
    if (left_out == 0) return;
    begin_line(text, ellipsis_);
    text += fmt::format("  {} more {}\n", left_out, left_out == 1 ? "row" : "rows");
  }

  void write_legend() {
    std::string legend;
    const auto add = [&](const std::string& note) { legend += (legend.empty() ? "" : "; ") + note; };
    if (masked_) add(style_.unicode ? "· masked" : ". masked");
    if (columns_.left_out() > 0)
      add(fmt::format("{} {} of {} columns left out", ellipsis_, columns_.left_out(), widths_.size()));
    if (was_rounded_) add(fmt::format("rounded to {} decimals", most_decimals()));
    if (!is_whole()) {
      legend += " (--full)";
    } else if (rows_.left_out() > 0) {
      add("--full shows all");
    }
    if (legend.empty()) return;
    sink_.write(std::string(margin_of_tables) + dim(style_) + legend + plain(style_) + "\n");
  }

  int most_decimals() const {
    int most = 0;
    for (const Digits& digits : digits_) most = std::max(most, digits.scientific ? 0 : digits.decimals);
    return most;
  }
  std::string row_mark() const { return style_.unicode ? "▸ " : "> "; }
  std::string column_mark() const { return style_.unicode ? "▾ " : "v "; }

  const Table& table_;
  const Style& style_;
  Sink& sink_;
  std::string ellipsis_;
  std::string title_;
  std::vector<Digits> digits_;
  Digits sum_digits_;
  Shown rows_;
  Shown columns_;
  std::size_t label_width_ = 0, labels_alone_ = 0;  // with the name among them, and without it
  bool name_above_ = false;
  bool was_rounded_ = false;
  std::vector<std::size_t> widths_;
  std::size_t separation_ = 2;
  Matrix sums_;
  bool show_sums_;
  std::size_t sum_width_ = 0;
  Shading shading_;
  std::atomic<bool> masked_ = false;  // rows are made by several threads
};

}  // namespace

void write_text_table(const Table& table, const Style& style, Sink& sink) { TextTable(table, style, sink).write(); }

namespace {

constexpr std::size_t most_cells_beside = 400;  // a larger table stands alone

WrittenLines lines_of_table(TextTable& table, std::string& text, Sink& sink) {
  table.write();
  sink.flush();
  return WrittenLines(std::exchange(text, {}));
}

// The three tables of a product with the same columns below each other, as narrow as they have to be.
bool write_as_drawn(const ProductBlock& product, Style style, Sink& sink) {
  const std::size_t limit = style.limit();
  style.width = style.full ? 0 : std::numeric_limits<std::size_t>::max();  // all columns, but not all rows
  std::string text;
  Sink lines([&](std::string_view bytes) { text += bytes; });
  const int floor = style.is_precise ? style.precision : std::min(style.precision, least_decimals);
  for (; style.precision >= floor; --style.precision) {
    for (const std::size_t separation : {std::size_t{2}, std::size_t{1}}) {
      TextTable left(product.left, style, lines), right(product.right, style, lines),
          result(product.result, style, lines);
      for (TextTable* table : {&left, &right, &result}) table->set_separation(separation);
      right.align_with(result);
      const WrittenLines at_left = lines_of_table(left, text, lines), above = lines_of_table(right, text, lines),
                         corner = lines_of_table(result, text, lines);
      if (at_left.width() + gap_beside + std::max(above.width(), corner.width()) > limit) continue;
      write_beside({WrittenLines::blank(above.height(), at_left.width()), above}, sink);
      sink.write("\n");
      write_beside({at_left, corner}, sink);
      return true;
    }
  }
  return false;
}

}  // namespace

void write_product(const ProductBlock& product, const Style& style, Sink& sink) {
  if (write_as_drawn(product, style, sink)) return;
  write_text_table(product.left, style, sink);
  sink.write("\n");
  write_text_table(product.right, style, sink);
  sink.write("\n");
  write_text_table(product.result, style, sink);
}

void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink) {
  Beside beside(style.limit(), sink);
  for (const Table& table : tables) {
    if (table.cells->size() > most_cells_beside) {
      beside.finish_line();
      beside.begin_block();
      write_text_table(table, style, sink);
      continue;
    }
    beside.add(written_lines([&](Sink& lines) { write_text_table(table, style, lines); }));
  }
  beside.finish_line();
}

// --- beside

WrittenLines::WrittenLines(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines_.emplace_back(text.substr(begin, end - begin));
    width_ = std::max(width_, visible_width(lines_.back()));
    begin = end + 1;
  }
}

WrittenLines WrittenLines::blank(std::size_t height, std::size_t width) {
  WrittenLines lines;
  lines.lines_.resize(height);
  lines.width_ = width;
  return lines;
}

const std::string& WrittenLines::line(std::size_t i) const {
  static const std::string nothing;
  return i < lines_.size() ? lines_[i] : nothing;
}

WrittenLines written_lines(const std::function<void(Sink&)>& write) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write(sink);
  sink.flush();
  return WrittenLines(text);
}

void write_beside(const std::vector<WrittenLines>& blocks, Sink& sink) {
  std::size_t height = 0;
  for (const WrittenLines& block : blocks) height = std::max(height, block.height());
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    std::size_t missing = 0;  // blanks are written only before something
    for (const WrittenLines& block : blocks) {
      const std::string& text = block.line(i);
      if (!text.empty()) line += std::string(missing, ' ') + text;
      missing = (text.empty() ? missing : 0) + block.width() + gap_beside - visible_width(text);
    }
    sink.write(line + "\n");
  }
}

void Beside::add(WrittenLines block) {
  if (used_ + block.width() > limit_) finish_line();
  used_ += block.width() + gap_beside;
  line_.push_back(std::move(block));
}

void Beside::finish_line() {
  if (line_.empty()) return;
  begin_block();
  write_beside(line_, sink_);
  line_.clear();
  used_ = 0;
}

void Beside::begin_block() {
  if (!is_first_) sink_.write("\n");
  is_first_ = false;
}

}  // namespace attn
