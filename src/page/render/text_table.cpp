#include "page/render/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/support/number.hpp"
#include "data/files/cell_values.hpp"
#include "page/render/ranked_columns.hpp"
#include "page/render/style.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/weight_pictures.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

constexpr std::size_t longest_whole_label = 200;
// A longer name stands above its table, unless a label of a row is as long.
constexpr std::size_t longest_name_within = 30;
constexpr std::string_view margin_of_tables = "  ";
// What labels are cut to where nothing else is left: of columns to a few letters, of numbered rows to these.
constexpr std::size_t fewest_letters = 2, fewest_of_row = 6;

class TextTable {
 public:
  TextTable(const Table& table, const Style& style, Sink& sink)
      : table_(table),
        marked_(table.marked()),
        style_(style),
        sink_(sink),
        ellipsis_(style.unicode ? "…" : "..."),
        title_(style.signs(table.title)),
        are_same_words_(are_same_words(table.rows, table.columns)),
        all_digits_(digits_for_columns(table, style.precision)),
        shading_(table, style) {
    const Shape shape = table.cells->shape();
    rows_ = style.elides() ? shown_rows(table) : every_place(shape.rows);
    columns_ = every_place(shape.columns);
    if (style.elides()) count_cut_columns();
    measure();
    if (style.elides() && !fits()) fit();
  }

  void write() {
    if (replacement_) return replacement_();
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

  void set_separation(std::size_t blanks) { form_.separation = blanks; }

  /// Gives both the same columns, one below the other.
  void align_with(TextTable& other) {
    label_width_ = other.label_width_ = std::max(label_width_, other.label_width_);
    for (std::size_t j = 0; j < widths_.size(); ++j)
      widths_[j] = other.widths_[j] = std::max(widths_[j], other.widths_[j]);
  }

 private:
  // The labels of quantities are our own words, those of a matrix are the reader's.
  std::string written(const std::string& label) const {
    return table_.columns_differ ? style_.signs(label) : style_.words(label);
  }

  std::string row_label(std::size_t i) const {
    const std::string word = written(table_.rows.label(i));
    if (!style_.elides()) return shortened(word, longest_whole_label, ellipsis_);
    const std::string short_word = shortened(word, form_.row_letters, ellipsis_);
    if (form_.is_numbered && are_same_words_)
      return fmt::format("{:>{}} {}", i + 1, std::to_string(table_.cells->shape().rows).size(), short_word);
    if (short_word == word || !is_of_several(short_word)) return short_word;
    return numbered(word, form_.row_letters, i);
  }

  // Cut to so many letters, with its number.
  std::string numbered(const std::string& word, std::size_t letters, std::size_t place) const {
    const std::string number = fmt::format(" ({})", place + 1);
    return shortened(word, std::max(letters, number.size() + 1) - number.size(), ellipsis_) + number;
  }

  void count_cut_columns() {
    for (std::size_t j = 0; table_.columns.labels && j < columns_.count; ++j) {
      const std::string word = written(table_.columns.label(j));
      if (std::string short_word = shortened(word, longest_column_label, ellipsis_); short_word != word)
        ++cut_columns_[std::move(short_word)];
    }
  }

  // Whether several of the rows that are shown are cut to the same letters.
  bool is_of_several(const std::string& label) const {
    return std::ranges::count_if(rows_.places, [&](std::size_t i) {
             return shortened(written(table_.rows.label(i)), form_.row_letters, ellipsis_) == label;
           }) > 1;
  }

  // A few letters need no sign that there were more: a line below the table says what they are.
  std::string column_label(std::size_t j) const {
    if (form_.is_numbered) return std::to_string(j + 1);
    const std::string word = written(table_.columns.label(j));
    if (!style_.elides()) return shortened(word, longest_whole_label, ellipsis_);
    if (form_.column_letters < longest_column_label) return shortened(word, form_.column_letters, "");
    const std::string short_word = shortened(word, longest_column_label, ellipsis_);
    const auto found = cut_columns_.find(short_word);
    if (found == cut_columns_.end() || found->second == 1) return short_word;
    return numbered(word, longest_column_label, j);
  }

  // Whether the rows say which words the columns are.
  bool are_told_by_rows() const { return are_same_words_ && rows_.left_out() == 0; }

  // --- how wide it is

  void measure() {
    digits_ = all_digits_;
    show_sums_ = table_.row_sums && form_.has_sums;
    was_rounded_ = form_.spelling == Spelling::percent;
    if (form_.decimals < style_.precision) round();
    for (Digits& digits : digits_) digits.spelling = form_.spelling;
    measure_labels();
    measure_columns();
    measure_sums();
  }

  void measure_labels() {
    label_width_ = 0;
    for (const std::size_t i : rows_.places) {
      const std::size_t mark = i == marked_.row ? 2 : 0;
      label_width_ = std::max(label_width_, display_width(row_label(i)) + mark);
    }
    const std::size_t wanted = display_width(title_);
    name_above_ = wanted > label_width_ && (wanted > longest_name_within || form_.name_above);
    if (!name_above_) label_width_ = std::max(label_width_, wanted);
  }

  void measure_columns() {
    const std::size_t count = columns_.count;
    widths_.assign(count, 0);
    for (std::size_t j = 0; j < count; ++j) widths_[j] = display_width(column_label(j)) + (j == marked_.column ? 2 : 0);
    for (const std::size_t i : rows_.places) {
      const std::span<const double> values = row(*table_.cells, i);
      for (std::size_t j = 0; j < count; ++j) {
        if (!is_masked(table_, i, j)) widths_[j] = std::max(widths_[j], digits_[j].width(values[j]));
      }
    }
    const std::size_t units = form_.spelling == Spelling::without_zero ? 0 : 1;
    for (std::size_t j = 0; j < count; ++j) widths_[j] = std::max(widths_[j], digits_[j].after_units() + units);
  }

  void measure_sums() {
    if (!show_sums_) return;
    sums_ = Matrix({table_.cells->shape().rows, 1});
    int decimals = 0;
    for (const std::size_t i : rows_.places) {
      const std::span<const double> values = row(*table_.cells, i);
      const double sum = sums_(i, 0) = std::accumulate(values.begin(), values.end(), 0.0);
      decimals = std::max(decimals, digits_for(Matrix({1, 1}, sum), style_.precision).decimals);
    }
    sum_digits_ = {.decimals = decimals};
    if (form_.decimals < style_.precision) sum_digits_ = with_at_most(form_.decimals, sum_digits_, 1.0);
    sum_width_ = std::max<std::size_t>(display_width(sum_title()), 1);
    for (const std::size_t i : rows_.places) sum_width_ = std::max(sum_width_, sum_digits_.width(sums_(i, 0)));
  }

  std::string_view sum_title() const { return style_.unicode ? "Σ" : "sum"; }

  // The width of the table when these columns are shown.
  std::size_t total(const ShownPlaces& shown) const {
    std::size_t width = margin_of_tables.size() + label_width_ + 2;
    for (const std::size_t j : shown.places) width += widths_[j] + form_.separation;
    width += shown.gaps() * (display_width(ellipsis_) + form_.separation);
    if (show_sums_) width += 3 + sum_width_;
    return width;
  }

  bool fits() const { return total(columns_) <= style_.width; }

  bool fits_as(const TableForm& form) {
    form_ = form;
    measure();
    return fits();
  }

  void round() {
    const Matrix& cells = *table_.cells;
    const double largest = largest_size(attn::cells(cells));
    for (std::size_t j = 0; j < digits_.size(); ++j) {
      const Digits fewer =
          with_at_most(form_.decimals, digits_[j], table_.columns_differ ? largest_size(column(cells, j)) : largest);
      was_rounded_ = was_rounded_ || fewer.decimals != digits_[j].decimals;
      digits_[j] = fewer;
    }
  }

  static std::vector<double> column(const Matrix& cells, std::size_t j) {
    std::vector<double> values;
    for (std::size_t i = 0; i < cells.shape().rows; ++i) values.push_back(cells(i, j));
    return values;
  }

  // --- what it gives up

  // The name above it first, then narrower gaps, then decimals, then the zeros before the points, then letters of the
  // headers, then the sums. Weights are then told in percent, then shown as a picture, and rows of many words as the
  // most probable ones. Only what is none of this loses columns.
  void fit() {
    TableForm form = form_;
    form.name_above = true;
    if (fits_as(form)) return;
    form.separation = 1;
    if (fits_as(form)) return;
    for (int decimals = style_.precision - 1; decimals >= least_decimals && !style_.is_precise; --decimals) {
      form.decimals = decimals;
      if (fits_as(form)) return;
    }
    const TableForm rounded = form;
    if (may_fit() && fit_further(form)) return;
    if (replace()) return;
    // Its name stands in the table again, and its gaps are wide.
    fits_as({.decimals = rounded.decimals});
    leave_out_columns();
  }

  // Whether each column has a place for a digit and a gap.
  bool may_fit() const { return 2 * columns_.count < style_.width; }

  bool fit_further(TableForm form) {
    if (is_from_0_to_1()) form.spelling = Spelling::without_zero;
    if (fits_as(form) || fits_with_cut_headers(form)) return true;
    form.has_sums = false;
    if (fits_as(form) || fits_with_cut_headers(form)) return true;
    if (table_.heat != Heat::weights || !is_from_0_to_1() || style_.is_precise) return false;
    form.spelling = Spelling::percent;
    return fits_as(form) || fits_with_cut_headers(form);
  }

  bool is_from_0_to_1() const {
    if (table_.columns_differ || digits_.empty() || digits_.front().scientific) return false;
    return std::ranges::all_of(cells(*table_.cells), [](double x) { return x >= 0.0 && x <= 1.0; });
  }

  // As many letters as there is room for. Where several words have the same ones, the columns have numbers, and so have
  // rows that are the same words.
  bool fits_with_cut_headers(TableForm form) {
    if (!table_.columns.labels || table_.columns_differ) return false;
    for (form.column_letters = longest_column_label - 1; form.column_letters >= fewest_letters; --form.column_letters) {
      if (!fits_as(form)) continue;
      if (headers_are_distinct()) return true;
      break;
    }
    form.is_numbered = true;
    for (; form.row_letters >= fewest_of_row; --form.row_letters) {
      if (fits_as(form)) return true;
    }
    return false;
  }

  bool headers_are_distinct() const {
    std::map<std::string, std::string> words;
    for (std::size_t j = 0; j < columns_.count; ++j) {
      const std::string word = written(table_.columns.label(j));
      if (words.try_emplace(column_label(j), word).first->second != word) return false;
    }
    return true;
  }

  bool replace() {
    const Shape shape = table_.cells->shape();
    const bool are_weights = table_.heat == Heat::weights && is_from_0_to_1() && !style_.is_precise;
    if (are_weights && shape.columns <= 2 * shape.rows &&
        have_whole_pictures({table_}, style_, {.width = style_.width})) {
      replacement_ = [this] {
        write_weight_pictures({table_}, style_, {.width = style_.width}, sink_);
        sink_.write(std::string(margin_of_tables) + dim(style_) + "shades in the place of numbers (--full)" +
                    plain(style_) + "\n");
      };
    } else if (table_.ranks && table_.columns.labels) {
      replacement_ = [this] { write_ranked_rows(table_, rows_, style_, sink_); };
    }
    return replacement_ != nullptr;
  }

  void leave_out_columns() {
    const std::size_t count = columns_.count;
    const std::vector<std::size_t> order = columns_by_importance(table_, rows_);
    for (std::size_t kept = std::min(count, style_.width / form_.separation); kept-- > 1;) {
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
      columns_ = chosen_places(count, {order.begin(), end});
      if (fits()) return;
    }
    show_sums_ = false;  // one column is all there is room for
  }

  // --- lines

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
        pad(line, form_.separation);
        line += ellipsis_;
      }
      if (n == columns_.places.size()) return;
      pad(line, form_.separation);
      write_cell(columns_.places[n]);
    }
  }

  void write_header() {
    std::string line;
    begin_line(line, name_above_ ? "" : title_);
    write_cells(line, [&](std::size_t j) {
      const std::string text = (j == marked_.column ? column_mark() : "") + column_label(j);
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
    std::size_t inner = columns_.gaps() * (display_width(ellipsis_) + form_.separation);
    for (const std::size_t j : columns_.places) inner += widths_[j] + form_.separation;
    dashes(line, inner + (show_sums_ ? 1 : 0));
    if (show_sums_) {
      line += cross;
      dashes(line, sum_width_ + 1);
    }
    sink_.write(line + "\n");
  }

  void append_row(std::string& line, std::size_t i) {
    begin_line(line, (i == marked_.row ? row_mark() : "") + row_label(i));
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
      const std::size_t after_units = digits_[j].after_units(), after_point = after_units == 0 ? 0 : after_units - 1;
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
    const bool is_marked = i == marked_.row || j == marked_.column;
    const std::string color = shading_.of(value) + (is_marked ? bold(style_) : "");
    if (!color.empty()) {
      line.insert(begin - form_.separation, color);  // with the gap before it: no stripes between neighbors
      line += plain(style_);
    }
  }

  // Where rows are left out before the n-th that is shown.
  void append_gap_row(std::string& text, std::size_t n) const {
    const std::size_t left_out = rows_.gap_before(n);
    if (left_out == 0) return;
    begin_line(text, ellipsis_);
    text += fmt::format("  {:# more row|# more rows}\n", Count{left_out});
  }

  void write_legend() {
    std::string legend;
    const auto add = [&](const std::string& note) { legend += (legend.empty() ? "" : "; ") + note; };
    if (masked_) add(style_.unicode ? "· masked" : ". masked");
    if (columns_.left_out() > 0)
      add(fmt::format("{} {} of {} columns left out", ellipsis_, columns_.left_out(), widths_.size()));
    if (form_.spelling == Spelling::percent) {
      add("in percent");
    } else if (was_rounded_) {
      add(fmt::format("rounded to {} decimals", most_decimals()));
    }
    const bool are_cut = form_.is_numbered || form_.column_letters < longest_column_label;
    if (are_cut && are_told_by_rows()) add("the columns are the words of the rows, in the same order");
    if (are_cut && !are_told_by_rows()) add(form_.is_numbered ? "the columns are numbered" : "headers are cut");
    if (table_.row_sums && !show_sums_) add("sums left out");
    if (columns_.left_out() > 0 || was_rounded_ || are_cut) {
      legend += " (--full)";
    } else if (rows_.left_out() > 0) {
      add("--full shows all");
    }
    std::vector<std::string> lines;
    if (!legend.empty()) lines = wrap(legend, style_.elides() ? style_.width - margin_of_tables.size() : legend.size());
    constexpr std::size_t telling = 4;  // letters: of fewer, no reader knows what they are
    if (are_cut && !are_told_by_rows() && (form_.is_numbered || form_.column_letters < telling)) {
      for (std::string& line : numbered_columns(table_, style_, style_.width - margin_of_tables.size()))
        lines.push_back(std::move(line));
    }
    for (const std::string& line : lines)
      sink_.write(std::string(margin_of_tables) + dim(style_) + line + plain(style_) + "\n");
  }

  int most_decimals() const {
    int most = 0;
    for (const Digits& digits : digits_) most = std::max(most, digits.scientific ? 0 : digits.decimals);
    return most;
  }
  std::string row_mark() const { return style_.unicode ? "▸ " : "> "; }
  std::string column_mark() const { return style_.unicode ? "▾ " : "v "; }

  const Table& table_;
  TablePlace marked_;
  const Style& style_;
  Sink& sink_;
  std::string ellipsis_;
  std::string title_;
  bool are_same_words_;  // the rows and the columns
  TableForm form_;
  std::vector<Digits> all_digits_, digits_;  // as many as they need, and as they are written
  Digits sum_digits_;
  ShownPlaces rows_;
  ShownPlaces columns_;
  std::map<std::string, std::size_t> cut_columns_;  // headers that are cut where there is room, and how many are so
  std::size_t label_width_ = 0;
  bool name_above_ = false;
  bool was_rounded_ = false;
  std::vector<std::size_t> widths_;
  Matrix sums_;
  bool show_sums_ = false;
  std::size_t sum_width_ = 0;
  Shading shading_;
  std::function<void()> replacement_;  // what is written in its place
  std::atomic<bool> masked_ = false;   // rows are made by several threads
};

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

void write_text_table(const Table& table, const Style& style, Sink& sink) { TextTable(table, style, sink).write(); }

void write_product(const ProductBlock& product, const Style& style, Sink& sink) {
  if (write_as_drawn(product, style, sink)) return;
  write_text_table(product.left, style, sink);
  sink.write("\n");
  write_text_table(product.right, style, sink);
  sink.write("\n");
  write_text_table(product.result, style, sink);
}

}  // namespace attn
