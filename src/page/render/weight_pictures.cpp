#include "page/render/weight_pictures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "page/render/drawing.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/text_table.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

constexpr std::size_t margin_of_pictures = 2, longest_word_beside = 12, longest_word_of_two = 8;
constexpr std::size_t most_single_lines = 24;  // of more rows, two share a line where colors can tell them apart
constexpr std::size_t most_picture_rows = 64;
constexpr std::size_t counted_from = 5;  // columns: of fewer, the eye finds its way without numbers

std::string cut_word(const Axis& axis, std::size_t i, std::size_t longest, const Style& style) {
  return shortened(style.words(axis.label(i)), longest, style.unicode ? "…" : "~");
}

// The largest weights of blocks of neighbors.
Matrix largest_of_neighbors(const Matrix& cells, std::size_t down, std::size_t across) {
  const Shape shape = cells.shape();
  Matrix largest({(shape.rows + down - 1) / down, (shape.columns + across - 1) / across}, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      double& cell = largest(i / down, j / across);
      cell = std::fmax(cell, cells(i, j));
    }
  }
  return largest;
}

std::size_t steps_for(std::size_t count, std::size_t room) {
  return room == 0 ? count : std::max<std::size_t>((count + room - 1) / room, 1);
}

class WeightPictures {
 public:
  WeightPictures(const std::vector<Table>& tables, const Style& style, PictureRoom room)
      : tables_(tables), first_(tables.front()), style_(style), room_(room), shading_(as_weights(first_), style) {
    range_.include(0.0);
    for (const Table& table : tables) {
      for (const double weight : cells(*table.cells)) range_.include(weight);
    }
    if (range_.is_constant()) range_.include(1.0);  // nothing but zeros
    labels_are_shared_ = std::ranges::all_of(tables, [&](const Table& table) {
      return table.cells->shape() == first_.cells->shape() &&
             (table.rows.labels == first_.rows.labels || are_same_words(table.rows, first_.rows));
    });
    choose();
  }

  bool is_whole() const { return across_ == 1 && down_ == 1; }
  bool fits() const { return fits_; }

  void write(Sink& sink) const {
    const std::size_t beside = std::max<std::size_t>(beside_, 1);
    for (std::size_t begin = 0; begin < tables_.size(); begin += beside) {
      if (begin > 0) sink.write("\n");
      std::vector<WrittenLines> line;
      for (std::size_t n = begin; n < std::min(begin + beside, tables_.size()); ++n)
        line.push_back(picture(tables_[n], has_labels(n - begin)));
      write_beside(line, sink);
    }
    for (const std::string& line : legend()) sink.write(line + "\n");
  }

 private:
  // What the shading takes for weights: the table may be shaded otherwise.
  static Table as_weights(const Table& table) {
    Table weights = table;
    weights.heat = Heat::weights;
    return weights;
  }

  bool has_labels(std::size_t place_in_line) const { return place_in_line == 0 || !labels_are_shared_; }
  bool can_halve() const { return style_.unicode && shading_.tells_sizes(); }
  bool is_counted() const { return is_whole() && first_.cells->shape().columns >= counted_from; }

  std::size_t label_width() const {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < first_.cells->shape().rows; i += down_)
      widest = std::max(widest, display_width(label(first_.rows, i)));
    return widest;
  }

  // A word, with its number where the columns are counted.
  std::string label(const Axis& axis, std::size_t i) const {
    const std::size_t longest = halved_ ? longest_word_of_two : longest_word_beside;
    const std::size_t digits = std::to_string(first_.cells->shape().rows).size();
    if (down_ > 1) return range(i, digits);
    if (!axis.labels) return fmt::format("{:>{}}", i + 1, digits);
    const std::string word = cut_word(axis, i, longest, style_);
    return is_counted() ? fmt::format("{:>{}} {}", i + 1, digits, word) : word;
  }

  // Rows that share a line: no word of one of them says what the line shows.
  std::string range(std::size_t i, std::size_t digits) const {
    const std::size_t last = std::min(i + down_, first_.cells->shape().rows);
    if (i + 1 == last) return fmt::format("{:>{}}", i + 1, digits);
    return fmt::format("{:>{}}{}{}", i + 1, digits, style_.unicode ? "–" : "-", last);
  }

  std::size_t width_of_labels() const { return halved_ ? 2 * label_width_ + 2 : label_width_; }
  std::size_t width_of_cells() const {
    const std::size_t columns = first_.cells->shape().columns;
    return (columns + across_ - 1) / across_ * cell_ + 2;
  }

  // Where lines are counted, names are not to take the room of pictures.
  std::string title(const Table& table) const {
    const std::string whole = style_.signs(table.title);
    constexpr std::size_t least = std::string_view("layer 1, head 1").size();
    return room_.height == 0 ? whole : shortened(whole, std::max(width_of_cells(), least), style_.unicode ? "…" : "~");
  }

  std::size_t widest_title() const {
    std::size_t widest = 0;
    for (const Table& table : tables_) widest = std::max(widest, display_width(title(table)));
    return widest;
  }

  // How many pictures stand beside each other.
  std::size_t pictures_beside() const {
    const std::size_t labels = width_of_labels() + 1, one = std::max(width_of_cells(), widest_title());
    const std::size_t with_labels = margin_of_pictures + labels + one;
    if (with_labels > room_.width) return 0;
    const std::size_t further = gap_beside + margin_of_pictures + one + (labels_are_shared_ ? 0 : labels);
    return std::min(tables_.size(), 1 + (room_.width - with_labels) / further);
  }

  std::size_t lines_of_rows() const {
    const std::size_t rows = (first_.cells->shape().rows + down_ - 1) / down_;
    return halved_ ? (rows + 1) / 2 : rows;
  }

  std::size_t height() const {
    const std::size_t lines = (tables_.size() + beside_ - 1) / std::max<std::size_t>(beside_, 1);
    return lines * (1 + (is_counted() ? 1 : 0) + lines_of_rows()) + (lines - 1) + legend().size();
  }

  bool measure() {
    label_width_ = label_width();
    beside_ = pictures_beside();
    fits_ = beside_ > 0 && (room_.height == 0 || height() <= room_.height);
    return fits_;
  }

  // Cells as wide as they are high, as far as two pictures stand beside each other then; a line for each row; then one
  // for two. Only then do neighbors share cells.
  void choose() {
    const Shape shape = first_.cells->shape();
    const std::size_t wanted = std::min<std::size_t>(tables_.size(), 2);
    const bool are_many = shape.rows > most_single_lines;
    const std::size_t most_rows = can_halve() ? 2 * most_picture_rows : most_picture_rows;
    if (shape.rows <= most_rows) {
      for (const bool halved : {are_many && can_halve(), can_halve()}) {
        halved_ = halved;
        for (const std::size_t cell : {std::size_t{2}, std::size_t{1}}) {
          cell_ = halved_ ? 1 : cell;
          if (measure() && (beside_ >= wanted || cell == 1)) return;
        }
      }
    }
    halved_ = false;
    cell_ = 1;
    const std::size_t labels = std::min(longest_word_beside + 1, room_.width / 3);
    const std::size_t width = room_.width - std::min(room_.width, labels + margin_of_pictures + 3);
    // As few as possible share one, in both directions together.
    std::size_t fewest = std::numeric_limits<std::size_t>::max(), best_down = 1, best_across = 1;
    const std::size_t least_down =
        room_.height == 0 ? steps_for(shape.rows, std::min(most_picture_rows, shape.rows)) : 1;
    for (std::size_t parts = 1; parts <= tables_.size(); ++parts) {
      const std::size_t part = std::max<std::size_t>(width / parts, 4);
      across_ = steps_for(shape.columns, std::min(part, shape.columns));
      for (down_ = least_down; down_ <= shape.rows && across_ * down_ < fewest; ++down_) {
        if (!measure()) continue;
        fewest = across_ * down_;
        best_down = down_;
        best_across = across_;
        break;
      }
    }
    if (fewest == std::numeric_limits<std::size_t>::max()) {
      best_down = shape.rows;
      best_across = shape.columns;
    }
    down_ = best_down;
    across_ = best_across;
    measure();
    beside_ = std::max<std::size_t>(beside_, 1);
  }

  WrittenLines picture(const Table& table, bool with_labels) const {
    const std::string frame = style_.unicode ? "│" : "|";
    const Matrix cells = largest_of_neighbors(*table.cells, down_, across_);
    const Shape shape = cells.shape();
    const std::string indent(margin_of_pictures + (with_labels ? width_of_labels() + 1 : 0), ' ');
    std::string text = indent + title(table) + "\n";
    if (is_counted()) text += indent + numbers_above(shape.columns) + "\n";
    for (std::size_t i = 0; i < shape.rows; i += halved_ ? 2 : 1) {
      text += std::string(margin_of_pictures, ' ');
      if (with_labels) text += labels_of(table.rows, i, shape.rows) + " ";
      text += frame;
      for (std::size_t j = 0; j < shape.columns; ++j) text += cell(cells, i, j);
      text += frame + "\n";
    }
    return WrittenLines(text);
  }

  std::string labels_of(const Axis& axis, std::size_t i, std::size_t rows) const {
    const auto padded = [&](std::size_t row) {
      const std::string text = label(axis, row * down_);
      return text + std::string(label_width_ - std::min(label_width_, display_width(text)), ' ');
    };
    if (!halved_) return padded(i);
    return padded(i) + "  " + (i + 1 < rows ? padded(i + 1) : std::string(label_width_, ' '));
  }

  // Every fifth one, where its column ends.
  std::string numbers_above(std::size_t columns) const {
    std::string line(1 + columns * cell_, ' ');
    for (std::size_t j = counted_from; j <= columns; j += counted_from) {
      const std::string number = std::to_string(j);
      const std::size_t end = 1 + j * cell_;
      if (number.size() < counted_from * cell_) line.replace(end - number.size(), number.size(), number);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  std::string cell(const Matrix& cells, std::size_t i, std::size_t j) const {
    const double weight = cells(i, j);
    if (halved_) {
      const double below = i + 1 < cells.shape().rows ? cells(i + 1, j) : 0.0;
      return shading_.halves(strength(weight), strength(below));
    }
    if (!range_.holds(weight)) return std::string(cell_, '?');
    if (shading_.tells_sizes()) return shading_.blank(strength(weight), cell_);
    std::string text;
    for (std::size_t k = 0; k < cell_; ++k) text += shade(range_.share(weight));
    return text;
  }

  double strength(double weight) const { return range_.holds(weight) ? range_.share(weight) : 0.0; }

  std::string_view shade(double share) const {
    static constexpr std::array<std::string_view, 5> blocks = {" ", "░", "▒", "▓", "█"},
                                                     signs = {" ", ".", "+", "#", "@"};
    const auto place = static_cast<std::size_t>(std::lround(share * 4.0));
    return (style_.unicode ? blocks : signs)[place];
  }

  std::vector<std::string> legend() const {
    if (room_.legend == PictureLegend::none) return {};
    Matrix levels({5, 1});
    for (std::size_t level = 0; level < 5; ++level) levels(level, 0) = range_.at(static_cast<double>(level) / 4.0);
    const Digits digits = with_at_most(2, digits_for(levels, style_.precision), range_.at(1.0));
    std::vector<std::string> entries;
    for (std::size_t level = 0; level < 5; ++level) {
      const double share = static_cast<double>(level) / 4.0;
      std::string entry = shading_.tells_sizes() ? shading_.blank(share, 2) + " " : fmt::format("'{}' ", shade(share));
      digits.append(entry, levels(level, 0));
      entries.push_back(std::move(entry));
    }
    std::vector<std::string> lines = wrapped(entries);
    if (halved_) add_note("a line shows two rows, the first of them in its upper half", lines);
    if (!is_whole()) add_note("neighbors share a cell, which shows their largest weight", lines);
    if (!is_counted() || !first_.columns.labels || room_.legend == PictureLegend::scale) return lines;
    if (are_same_words(first_.rows, first_.columns)) {
      add_note("the columns are the words of the rows, in the same order", lines);
    } else {
      for (const std::string& line : numbered_columns(first_, style_, room_.width - margin_of_pictures))
        add_note(line, lines);
    }
    return lines;
  }

  std::vector<std::string> wrapped(const std::vector<std::string>& entries) const {
    constexpr std::size_t gap = 3;
    std::vector<std::string> lines;
    std::string line;
    for (const std::string& entry : entries) {
      if (!line.empty() && margin_of_pictures + visible_width(line) + gap + visible_width(entry) > room_.width) {
        lines.push_back(std::string(margin_of_pictures, ' ') + line);
        line.clear();
      }
      line += (line.empty() ? "" : std::string(gap, ' ')) + entry;
    }
    lines.push_back(std::string(margin_of_pictures, ' ') + line);
    return lines;
  }

  void add_note(const std::string& note, std::vector<std::string>& lines) const {
    for (const std::string& line : wrap(note, room_.width - margin_of_pictures))
      lines.push_back(std::string(margin_of_pictures, ' ') + dim(style_) + line + plain(style_));
  }

  const std::vector<Table>& tables_;
  const Table& first_;
  const Style& style_;
  PictureRoom room_;
  Shading shading_;
  ValueRange range_;
  bool labels_are_shared_ = false;
  bool halved_ = false;
  bool fits_ = false;
  std::size_t cell_ = 2, across_ = 1, down_ = 1;  // how wide a cell is, and how many columns and rows share it
  std::size_t label_width_ = 0, beside_ = 1;
};

std::vector<Table> with_cells(const std::vector<Table>& tables) {
  std::vector<Table> shown;
  std::ranges::copy_if(tables, std::back_inserter(shown), [](const Table& table) { return table.cells->size() > 0; });
  return shown;
}

}  // namespace

bool have_whole_pictures(const std::vector<Table>& tables, const Style& style, PictureRoom room) {
  const std::vector<Table> shown = with_cells(tables);
  if (shown.empty()) return false;
  const WeightPictures pictures(shown, style, room);
  return pictures.is_whole() && pictures.fits();
}

void write_weight_pictures(const std::vector<Table>& tables, const Style& style, PictureRoom room, Sink& sink) {
  const std::vector<Table> shown = with_cells(tables);
  if (!shown.empty()) WeightPictures(shown, style, room).write(sink);
}

bool are_same_words(const Axis& rows, const Axis& columns) {
  return rows.labels && columns.labels && *rows.labels == *columns.labels;
}

std::vector<std::string> numbered_columns(const Table& table, const Style& style, std::size_t width) {
  std::string all = "columns: ";
  for (std::size_t j = 0; j < table.cells->shape().columns; ++j)
    all += fmt::format("{}{}\u00A0{}", j == 0 ? "" : ", ", j + 1, style.words(table.columns.label(j)));
  return wrap(all, width);
}

}  // namespace attn
