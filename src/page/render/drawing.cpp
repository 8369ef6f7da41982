#include "page/render/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/style.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// Where a piece of a line leads.
enum Direction : unsigned { up = 1, down = 2, left = 4, right = 8 };

// What drawings are made of.
struct Signs {
  std::array<std::string_view, 16> lines;  // by the sum of their directions
  std::array<std::string_view, 4> heads;   // of arrows: up, down, left, right
  std::string_view across, beside;         // of frames
  std::string_view tick, corner;
  std::array<std::string_view, 6> marks;   // of curves
  std::array<std::string_view, 5> shades;  // of cells, from the smallest to the largest
};
constexpr Signs line_signs = {{" ", "│", "│", "│", "─", "╯", "╮", "┤", "─", "╰", "╭", "├", "─", "┴", "┬", "┼"},
                              {"▲", "▼", "◀", "▶"},
                              "╌",
                              "┆",
                              "┤",
                              "└",
                              {"•", "×", "+", "o", "#", "*"},
                              {" ", "░", "▒", "▓", "█"}};
constexpr Signs ascii = {{" ", "|", "|", "|", "-", "+", "+", "+", "-", "+", "+", "+", "-", "+", "+", "+"},
                         {"^", "v", "<", ">"},
                         ".",
                         ":",
                         "|",
                         "+",
                         {"*", "x", "+", "o", "#", "@"},
                         {" ", ".", "+", "#", "@"}};
constexpr std::string_view not_finite = "?";
constexpr std::size_t margin = 2;

class CharacterDrawing {
 public:
  CharacterDrawing(const Drawing& drawing, const Style& style)
      : drawing_(drawing), style_(style), signs_(style.unicode ? line_signs : ascii) {
    for (const Drawing::Frame& frame : drawing.frames) add(frame);
    for (const Drawing::Box& box : drawing.boxes) add(box);
    for (const Drawing::Line& line : drawing.lines) add(line);
    for (const Drawing::Label& label : drawing.labels) put(label.at, label.text, display_width(label.text));
    if (drawing.axes) add(*drawing.axes);
    if (has_dots()) {
      add_dots();
    } else {
      for (const auto& [at, series] : drawing.marks) put(at, mark(series), 1);
    }
    if (drawing.cells) add(*drawing.cells);
  }

  void write(Sink& sink) const {
    if (drawing_.caption) {
      for (const std::string& line : wrap(style_.signs(*drawing_.caption), style_.limit() - margin))
        sink.write(std::string(margin, ' ') + line + "\n");
    }
    std::size_t next = 0;
    for (const auto& [y, row] : rows_) {
      for (; next < y; ++next) sink.write("\n");
      ++next;
      std::string line(margin, ' ');
      std::size_t end = 0;
      for (const auto& [x, piece] : row) {
        if (x < end) continue;  // it is covered
        line += std::string(x - end, ' ');
        line += piece.text.empty() ? sign_of(piece) : piece.text;
        end = x + piece.width;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      sink.write(line + "\n");
    }
    for (const std::vector<Drawing::Entry>& legend : drawing_.legends) write_legend(legend, sink);
  }

 private:
  using Point = Drawing::Point;
  struct Piece {
    std::string text = {};  // empty: a line
    std::size_t width = 1;
    unsigned directions = 0;
    bool is_joint = false;  // a line turns or ends here
  };

  // Of lines that only cross, the upright one passes over the other.
  std::string_view sign_of(const Piece& piece) const {
    constexpr unsigned all = up | down | left | right;
    return signs_.lines[piece.directions == all && !piece.is_joint ? up | down : piece.directions];
  }

  void put(Point at, std::string_view text, std::size_t width) { rows_[at.y][at.x] = {std::string(text), width}; }

  void add_directions(Point at, unsigned directions) {
    Piece& piece = rows_[at.y][at.x];
    piece.text.clear();  // lines pass through frames
    piece.directions |= directions;
  }

  void connect(Point from, Point to) {
    const auto [x, to_x] = std::minmax(from.x, to.x);
    const auto [y, to_y] = std::minmax(from.y, to.y);
    for (std::size_t i = x; i < to_x; ++i) {
      add_directions({i, y}, right);
      add_directions({i + 1, y}, left);
    }
    for (std::size_t i = y; i < to_y; ++i) {
      add_directions({x, i}, down);
      add_directions({x, i + 1}, up);
    }
    rows_[from.y][from.x].is_joint = rows_[to.y][to.x].is_joint = true;
  }

  void add(const Drawing::Frame& frame) {
    for (std::size_t x = frame.from.x; x <= frame.to.x; ++x) {
      put({x, frame.from.y}, signs_.across, 1);
      put({x, frame.to.y}, signs_.across, 1);
    }
    for (std::size_t y = frame.from.y + 1; y < frame.to.y; ++y) {
      put({frame.from.x, y}, signs_.beside, 1);
      put({frame.to.x, y}, signs_.beside, 1);
    }
    put(frame.from, signs_.lines[right | down], 1);
    put({frame.to.x, frame.from.y}, signs_.lines[left | down], 1);
    put({frame.from.x, frame.to.y}, signs_.lines[right | up], 1);
    put(frame.to, signs_.lines[left | up], 1);
    if (!frame.title.empty()) put({frame.from.x + 2, frame.from.y}, frame.title, display_width(frame.title));
  }

  void add(const Drawing::Box& box) {
    const Point upper_right{box.to.x, box.from.y}, lower_left{box.from.x, box.to.y};
    connect(box.from, upper_right);
    connect(box.from, lower_left);
    connect(upper_right, box.to);
    connect(lower_left, box.to);
  }

  void add(const Drawing::Line& line) {
    for (std::size_t i = 0; i + 1 < line.points.size(); ++i) connect(line.points[i], line.points[i + 1]);
    if (line.has_arrow && line.points.size() > 1) put(line.points.back(), head_of(line), 1);
  }

  std::string_view head_of(const Drawing::Line& line) const {
    const Point from = line.points[line.points.size() - 2], to = line.points.back();
    if (from.x == to.x) return signs_.heads[from.y > to.y ? 0 : 1];
    return signs_.heads[from.x > to.x ? 2 : 3];
  }

  void add(const Drawing::Axes& axes) {
    for (std::size_t y = axes.from.y; y < axes.to.y; ++y) put({axes.from.x, y}, signs_.lines[up | down], 1);
    for (const std::size_t y : axes.ticks) put({axes.from.x, y}, signs_.tick, 1);
    put({axes.from.x, axes.to.y}, signs_.corner, 1);
    for (std::size_t x = axes.from.x + 1; x <= axes.to.x; ++x) put({x, axes.to.y}, signs_.lines[left | right], 1);
  }

  void add(const Drawing::Cells& cells) {
    const std::string_view frame = signs_.lines[up | down];
    const Shading shading(cells.table, style_);
    for (std::size_t i = 0; i < cells.rows.size(); ++i) {
      std::string text(frame);
      for (const std::size_t column : cells.columns)
        text += swatch(cells.range, shading, (*cells.table.cells)(cells.rows[i], column), cells.width);
      const std::size_t width = cells.columns.size() * cells.width + 2;
      put({cells.at.x - 1, cells.at.y + i}, text.append(frame), width);
    }
  }

  // Several curves need colors to be told apart, or a sign for each.
  bool has_dots() const {
    const bool is_line = std::ranges::all_of(drawing_.curves, &Drawing::Curve::is_line);
    return style_.unicode && drawing_.axes && !drawing_.curves.empty() &&
           (style_.colors != Colors::none || (drawing_.curves.size() == 1 && is_line));
  }

  // A character has two dots beside each other and four below. Later curves cover earlier ones.
  void add_dots() {
    const Drawing::Axes& axes = *drawing_.axes;
    const std::size_t width = axes.to.x - axes.from.x, height = axes.to.y - axes.from.y;
    for (const Drawing::Curve& curve : drawing_.curves) {
      std::map<std::pair<std::size_t, std::size_t>, unsigned> dots;  // by line and column
      const auto dot = [&](double across, double down) {
        const auto x = static_cast<std::size_t>(std::lround(across * static_cast<double>(2 * width - 1)));
        const auto y = static_cast<std::size_t>(std::lround(down * static_cast<double>(4 * height - 1)));
        dots[{y / 4, x / 2}] |= dot_of(x % 2, y % 4);
      };
      for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const auto [across, down] = curve.points[i];
        dot(across, down);
        if (i == 0 || !curve.is_line) continue;
        const auto [from_across, from_down] = curve.points[i - 1];
        const double steps = std::ceil(std::max(std::fabs(across - from_across) * static_cast<double>(2 * width),
                                                std::fabs(down - from_down) * static_cast<double>(4 * height)));
        for (double step = 1.0; step < steps; ++step) {
          const double share = step / steps;
          dot(from_across + share * (across - from_across), from_down + share * (down - from_down));
        }
      }
      for (const auto& [place, bits] : dots) {
        const std::string sign = curve.is_line ? braille(bits) : std::string(mark(curve.series));
        put({axes.from.x + 1 + place.second, axes.from.y + place.first},
            series_color(curve.series, style_) + sign + plain(style_), 1);
      }
    }
  }

  // In Unicode the dots are counted down the left column, then down the right one; the last two came later.
  static unsigned dot_of(std::size_t x, std::size_t y) {
    static constexpr unsigned bits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
    return bits[x][y];
  }

  static std::string braille(unsigned bits) {
    const unsigned code = 0x2800 + bits;  // in UTF-8
    return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
  }

  std::string_view mark(std::size_t series) const { return signs_.marks[series % signs_.marks.size()]; }

  std::string_view shade(const ValueRange& range, double value) const {
    if (!range.holds(value)) return not_finite;
    const double place = range.share(value) * static_cast<double>(signs_.shades.size() - 1);
    return signs_.shades[static_cast<std::size_t>(std::lround(place))];
  }

  // A cell of the picture: a colored blank where there are colors enough, and otherwise a sign.
  std::string swatch(const ValueRange& range, const Shading& shading, double value, std::size_t width) const {
    if (range.holds(value) && shading.tells_sizes()) return shading.of(value) + std::string(width, ' ') + plain(style_);
    std::string text;
    for (std::size_t k = 0; k < width; ++k) text += shade(range, value);
    return text;
  }

  std::string key_of(const Drawing::Entry& entry) const {
    if (entry.series && has_dots()) {
      const Drawing::Curve& curve = drawing_.curves[*entry.series];
      const std::string sign = curve.is_line ? "⠤⠤" : std::string(mark(curve.series));
      return series_color(curve.series, style_) + sign + plain(style_) + " ";
    }
    if (entry.series) return std::string(mark(*entry.series)) + " ";
    if (!entry.level) return "";
    const ValueRange& range = drawing_.cells->range;
    const Shading shading(drawing_.cells->table, style_);
    if (range.holds(*entry.level) && shading.tells_sizes()) return swatch(range, shading, *entry.level, 2) + " ";
    return fmt::format("'{}' ", shade(range, *entry.level));
  }

  // In as many lines as the entries need.
  void write_legend(const std::vector<Drawing::Entry>& entries, Sink& sink) const {
    constexpr std::size_t gap = 3;
    std::string line;
    for (const Drawing::Entry& entry : entries) {
      const std::string text = key_of(entry) + entry.text;
      if (!line.empty() && margin + visible_width(line) + gap + visible_width(text) > style_.limit()) {
        sink.write("  " + line + "\n");
        line.clear();
      }
      line += (line.empty() ? "" : std::string(gap, ' ')) + text;
    }
    if (!line.empty()) sink.write("  " + line + "\n");
  }

  const Drawing& drawing_;
  const Style& style_;
  const Signs& signs_;
  std::map<std::size_t, std::map<std::size_t, Piece>> rows_;  // by their places
};

}  // namespace

// A wide terminal is used.
Metrics characters_of(const Style& style) {
  constexpr std::size_t usual = 80;
  Metrics metrics{.limit = style.limit() - margin};
  if (style.width > usual) metrics.across = metrics.limit;
  return metrics;
}

void write_drawing(const Drawing& drawing, const Style& style, Sink& sink) {
  CharacterDrawing(drawing, style).write(sink);
}

}  // namespace attn
