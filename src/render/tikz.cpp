#include "render/tikz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/color.hpp"
#include "render/tex.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr Metrics units = tikz_units;
constexpr std::size_t highest = 750;  // in these units, on a page

constexpr std::string_view series_colors[] = {"blue!70!black", "orange!70!black", "green!50!black",
                                              "violet",        "olive",           "red!70!black"};
constexpr std::size_t kinds_of_marks = std::size(series_colors);

class TikzDrawing {
 public:
  explicit TikzDrawing(const Drawing& drawing) {
    if (drawing.caption) add_caption(*drawing.caption);
    origin_ = bottom_;
    if (drawing.cells) add(*drawing.cells);
    for (const Drawing::Frame& frame : drawing.frames) add(frame);
    for (const Drawing::Box& box : drawing.boxes) add(box);
    for (const Drawing::Line& line : drawing.lines) add(line);
    if (drawing.axes) add(*drawing.axes);
    for (const Drawing::Mark& mark : drawing.marks) add_mark(mark.at.x, y_of(mark.at.y), mark.series);
    for (const Drawing::Label& label : drawing.labels) add_text(label.at.x, y_of(label.at.y), label.text);
    for (const auto& legend : drawing.legends) add_legend(legend, drawing);
  }

  std::string picture() const {
    const std::string drawn =
        "\\begin{tikzpicture}[x=0.7pt,y=-0.7pt,every node/.style={anchor=west,inner sep=0pt,"
        "font=\\ttfamily\\fontsize{8}{10}\\selectfont}]\n" +
        body_ + "\\end{tikzpicture}";
    const bool is_wide = right_ > units.limit, is_high = bottom_ > highest;
    if (!is_wide && !is_high) return drawn;
    const bool follows_width = right_ * highest > bottom_ * units.limit;
    return fmt::format("\\resizebox{}{{%\n{}}}", follows_width ? "{\\linewidth}{!}" : "{!}{0.85\\textheight}",
                       drawn);
  }

 private:
  using Point = Drawing::Point;

  std::size_t y_of(std::size_t y) const { return origin_ + y + units.line / 2; }

  void reach(std::size_t x, std::size_t y) {
    right_ = std::max(right_, x);
    bottom_ = std::max(bottom_, y);
  }

  void add_text(std::size_t x, std::size_t y, std::string_view text, std::string_view font = "") {
    const double left = static_cast<double>(x) - units.column / 2.0;
    body_ += fmt::format("\\node at ({:g},{}) {{{}{}}};\n", left, y, font, in_tex(text));
    reach(x + display_width(text) * units.column, y + units.line / 2);
  }

  void add_caption(const std::string& caption) {
    for (const std::string& line : wrap(caption, units.limit / units.column))
      add_text(0, bottom_ + units.line / 2, line, "\\bfseries ");
    bottom_ += units.line / 2;
  }

  void add(const Drawing::Box& box) {
    body_ += fmt::format("\\draw[rounded corners=1.5pt,fill=black!4] ({},{}) rectangle ({},{});\n",
                         box.from.x, y_of(box.from.y), box.to.x, y_of(box.to.y));
    reach(std::max(box.from.x, box.to.x), y_of(std::max(box.from.y, box.to.y)));
  }

  void add(const Drawing::Line& line) {
    std::string points;
    for (const Point& point : line.points) {
      points += fmt::format("{}({},{})", points.empty() ? "" : " -- ", point.x, y_of(point.y));
      reach(point.x, y_of(point.y));
    }
    const std::string style = style_of(line);
    body_ += fmt::format("\\draw{} {};\n", style.empty() ? "" : "[" + style + "]", points);
  }

  // As heavy as the number that a line tells; the lines of each series have dashes of their own, besides
  // their color.
  static std::string style_of(const Drawing::Line& line) {
    static constexpr std::string_view dashes[kinds_of_marks] = {"solid",    "dashed",         "dotted",
                                                                "dash dot", "densely dashed", "dash dot dot"};
    std::string style = line.has_arrow ? "-stealth" : "";
    const auto say = [&](const std::string& what) { style += (style.empty() ? "" : ",") + what; };
    if (line.series) {
      const std::size_t kind = *line.series % kinds_of_marks;
      say(fmt::format("{},{}", series_colors[kind], dashes[kind]));
    }
    if (line.strength) {
      const double strength = std::clamp(*line.strength, 0.0, 1.0);
      say(fmt::format("line width={:.2f}pt,opacity={:.2f}", 0.3 + 2.0 * strength, 0.3 + 0.6 * strength));
    }
    return style;
  }

  void add(const Drawing::Frame& frame) {
    body_ += fmt::format("\\draw[dashed,rounded corners=3pt] ({},{}) rectangle ({},{});\n", frame.from.x,
                         y_of(frame.from.y), frame.to.x, y_of(frame.to.y));
    reach(frame.to.x, y_of(frame.to.y));
    if (!frame.title.empty())
      add_text(frame.from.x + 2 * units.column, y_of(frame.from.y) - units.line / 2, frame.title);
  }

  void add(const Drawing::Axes& axes) {
    body_ += fmt::format("\\draw ({0},{1}) -- ({0},{2}) -- ({3},{2});\n", axes.from.x, y_of(axes.from.y),
                         y_of(axes.to.y), axes.to.x);
    for (const std::size_t tick : axes.ticks)
      body_ += fmt::format("\\draw ({0},{1}) -- ++(-4,0);\n", axes.from.x, y_of(tick));
    reach(axes.to.x, y_of(axes.to.y));
  }

  // Each curve has a shape of its own, besides its color.
  void add_mark(std::size_t x, std::size_t y, std::size_t series) {
    static constexpr std::string_view shapes[kinds_of_marks] = {
        "circle[radius=2pt]",
        "++(-3,-3) -- ++(6,6) ++(-6,0) -- ++(6,-6)",
        "++(-4,0) -- ++(8,0) ++(-4,-4) -- ++(0,8)",
        "++(-3,-3) rectangle ++(6,6)",
        "++(0,-4) -- ++(4,4) -- ++(-4,4) -- ++(-4,-4) -- cycle",
        "++(0,-4) -- ++(4,7) -- ++(-8,0) -- cycle"};
    const std::size_t kind = series % kinds_of_marks;
    body_ += fmt::format("\\draw[{}{}] ({},{}) {};\n", kind == 0 ? "fill=" : "", series_colors[kind], x, y,
                         shapes[kind]);
    reach(x + 4, y + 4);
  }

  // Of a kind of lines.
  void add_sample(std::size_t x, std::size_t y, std::size_t series) {
    const Drawing::Line line{.points = {}, .series = series};
    body_ += fmt::format("\\draw[{}] ({},{}) -- ++(14,0);\n", style_of(line), x, y);
  }

  // The color of a cell, as a mixture with white; empty: none.
  static std::string fill_of(double value, const Drawing::Cells& cells, const Strengths& strengths) {
    const double strength = cells.table.heat == Heat::none ? cells.range.share(value) : strengths.of(value);
    const long share = std::lround(std::fabs(strength) * 100.0);
    return share == 0 ? "" : fmt::format("{}!{}", strength < 0.0 ? "orange" : "blue!80!black", share);
  }

  void add_cell(double x, double y, std::size_t width, double value, const Drawing::Cells& cells,
                const Strengths& strengths) {
    if (!cells.range.holds(value)) {
      body_ += fmt::format("\\node[anchor=center] at ({:g},{:g}) {{?}};\n",
                           x + static_cast<double>(width) / 2.0, y + units.line / 2.0);
      return;
    }
    const std::string fill = fill_of(value, cells, strengths);
    if (fill.empty()) return;
    body_ += fmt::format("\\fill[{}] ({:g},{:g}) rectangle ++({},{});\n", fill, x, y, width, units.line);
  }

  void add(const Drawing::Cells& cells) {
    const Strengths strengths(cells.table);
    const double left = static_cast<double>(cells.at.x) - units.column / 2.0;
    const double top = static_cast<double>(y_of(cells.at.y)) - units.line / 2.0;
    const std::size_t width = cells.columns.size() * cells.width, height = cells.rows.size() * units.line;
    for (std::size_t i = 0; i < cells.rows.size(); ++i) {
      for (std::size_t j = 0; j < cells.columns.size(); ++j) {
        add_cell(left + static_cast<double>(j * cells.width), top + static_cast<double>(i * units.line),
                 cells.width, (*cells.table.cells)(cells.rows[i], cells.columns[j]), cells, strengths);
      }
    }
    body_ += fmt::format("\\draw ({:g},{:g}) rectangle ++({},{});\n", left, top, width, height);
    reach(cells.at.x + width, y_of(cells.at.y) + height);
  }

  void add_legend(const std::vector<Drawing::Entry>& entries, const Drawing& drawing) {
    constexpr std::size_t key = 18, gap = 12;
    if (entries.empty()) return;
    bottom_ += units.line / 2;
    std::size_t x = 0, y = bottom_ + units.line / 2;
    for (const Drawing::Entry& entry : entries) {
      const std::size_t width = key + display_width(entry.text) * units.column;
      if (x > 0 && x + width > units.limit) {
        x = 0;
        y += units.line;
      }
      if (entry.series && !drawing.marks.empty()) add_mark(x + key / 3, y, *entry.series);
      if (entry.series && drawing.marks.empty()) add_sample(x, y, *entry.series);
      if (entry.level && drawing.cells) add_swatch(x, y, *entry.level, *drawing.cells);
      add_text(x + (entry.series || entry.level ? key : 0), y, entry.text);
      x += width + gap;
    }
    reach(0, y + units.line / 2);
  }

  void add_swatch(std::size_t x, std::size_t y, double level, const Drawing::Cells& cells) {
    const double left = static_cast<double>(x), top = static_cast<double>(y) - units.line / 2.0;
    const std::size_t width = 2 * units.column;
    add_cell(left, top, width, level, cells, Strengths(cells.table));
    body_ += fmt::format("\\draw ({:g},{:g}) rectangle ++({},{});\n", left, top, width, units.line);
  }

  std::string body_;
  std::size_t origin_ = 0;              // where the drawing itself begins, below its caption
  std::size_t right_ = 0, bottom_ = 0;  // that anything reaches
};

}  // namespace

std::string tikz_of(const Drawing& drawing) {
  return TikzDrawing(drawing).picture();
}

}  // namespace attn
