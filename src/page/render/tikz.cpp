#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "page/render/format.hpp"
#include "page/render/mathml.hpp"
#include "page/render/picture.hpp"
#include "page/render/style.hpp"
#include "page/render/tex.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- tikz

constexpr Metrics units = tikz_units;
constexpr std::size_t highest = 750;  // in these units, on a page

constexpr std::size_t kinds_of_tikz_marks = 6;

// What a picture is drawn with. Colors of cells are mixed with the ground.
struct TikzColors {
  std::string_view ink, box, quiet, marked, positive, negative, ground;
  std::array<std::string_view, kinds_of_tikz_marks> series;
};
constexpr TikzColors light_tikz = {
    "black",         "black!4",
    "black!60",      "yellow!55!orange!45",
    "blue!80!black", "orange",
    "white",         {"blue!70!black", "orange!70!black", "green!50!black", "violet", "olive", "red!70!black"}};
// Those of picture_colors(), which the picture defines.
constexpr TikzColors dark_tikz = {"attn-ink",      "attn-box",
                                  "attn-quiet",    "attn-marked",
                                  "attn-positive", "attn-negative",
                                  "attn-ground",   {"attn-s1", "attn-s2", "attn-s3", "attn-s4", "attn-s5", "attn-s6"}};

std::string definitions_of_dark() {
  std::string text;
  for (const PictureColor& color : picture_colors()) {
    const bool is_hex = color.dark.starts_with('#');
    std::string value(color.dark.substr(is_hex ? 1 : 0));
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    text += fmt::format("\\definecolor{{attn-{}}}{{{}}}{{{}}}%\n", color.name, is_hex ? "HTML" : "RGB", value);
  }
  return text;
}

class TikzDrawing {
 public:
  explicit TikzDrawing(const Drawing& drawing, const TikzColors& colors = light_tikz) : colors_(colors) {
    if (drawing.caption) add_caption(*drawing.caption);
    origin_ = bottom_;
    for (const Drawing::Tile& tile : drawing.tiles) add(tile);
    if (drawing.cells) add(*drawing.cells);
    for (const Drawing::Frame& frame : drawing.frames) add(frame);
    for (const Drawing::Box& box : drawing.boxes) add(box);
    for (const Drawing::Line& line : drawing.lines) add(line);
    if (drawing.axes) add(*drawing.axes);
    for (const Drawing::Mark& mark : drawing.marks) add_mark(mark.at.x, y_of(mark.at.y), mark.series);
    for (const Drawing::Label& label : drawing.labels) add(label);
    for (const auto& legend : drawing.legends) add_legend(legend, drawing);
  }

  const std::string& body() const { return body_; }
  DrawnSize extent() const { return {right_, bottom_}; }

 private:
  using Point = Drawing::Point;

  std::size_t y_of(std::size_t y) const { return origin_ + y + units.line / 2; }

  void reach(std::size_t x, std::size_t y) {
    right_ = std::max(right_, x);
    bottom_ = std::max(bottom_, y);
  }

  void add_text(std::size_t x, std::size_t y, std::string_view text, std::string_view font = "") {
    const double left = static_cast<double>(x) - units.column / 2.0;
    std::string written = in_tex(text);
    // A minus of this font is as wide as its other signs.
    constexpr std::string_view minus = "\\ensuremath{-}";
    for (std::size_t at; (at = written.find(minus)) != std::string::npos;) written.replace(at, minus.size(), "-");
    body_ += fmt::format("\\node at ({:g},{}) {{{}{}}};\n", left, y, font, written);
    reach(x + display_width(with_character_numbers(text)) * units.column, y + units.line / 2);
  }

  // A formula is typeset; one of a file may have any LaTeX, and then its plain form stands for it.
  void add(const Drawing::Label& label) {
    if (label.latex == nothing_in_latex) return;
    std::string font;
    if (label.kind == Drawing::Label::Kind::strong) font = "\\bfseries ";
    if (label.kind == Drawing::Label::Kind::quiet) font = fmt::format("\\color{{{}}}", colors_.quiet);
    if (label.latex.empty() || !is_our_latex(label.latex))
      return add_text(label.at.x, y_of(label.at.y), label.text, font);
    const double left = static_cast<double>(label.at.x) - units.column / 2.0;
    const std::size_t y = y_of(label.at.y);
    // \boldmath leaves something behind its group, where TikZ reads on: it has one of its own.
    const bool is_strong = label.kind == Drawing::Label::Kind::strong;
    body_ += fmt::format("\\node at ({:g},{}) {{{}${}${}}};\n", left, y, is_strong ? "{\\boldmath" : font, label.latex,
                         is_strong ? "}" : "");
    reach(label.at.x + display_width(label.text) * units.column, y + units.line / 2);
  }

  void add(const Drawing::Tile& tile) {
    const double left = static_cast<double>(tile.at.x) - units.column / 2.0,
                 top = static_cast<double>(y_of(tile.at.y)) - units.line / 2.0;
    body_ += fmt::format("\\fill[{}] ({:g},{:g}) rectangle ++({},{});\n",
                         tile.strength ? mixed(*tile.strength) : colors_.marked, left, top, tile.width, tile.height);
    reach(tile.at.x + tile.width, y_of(tile.at.y) + tile.height);
  }

  // A strength from −1 to 1 as a mixture with the ground.
  std::string mixed(double strength) const {
    return fmt::format("{}!{}!{}", strength < 0.0 ? colors_.negative : colors_.positive,
                       std::lround(std::fabs(strength) * 100.0), colors_.ground);
  }

  void add_caption(const std::string& caption) {
    for (const std::string& line : wrap(caption, units.limit / units.column))
      add_text(0, bottom_ + units.line / 2, line, "\\bfseries ");
    bottom_ += units.line / 2;
  }

  void add(const Drawing::Box& box) {
    body_ += fmt::format("\\draw[rounded corners=1.5pt,fill={}] ({},{}) rectangle ({},{});\n", colors_.box, box.from.x,
                         y_of(box.from.y), box.to.x, y_of(box.to.y));
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
  std::string style_of(const Drawing::Line& line) const {
    static constexpr std::string_view dashes[kinds_of_tikz_marks] = {"solid",    "dashed",         "dotted",
                                                                     "dash dot", "densely dashed", "dash dot dot"};
    std::string style = line.has_arrow ? "-stealth" : "";
    const auto say = [&](const std::string& what) { style += (style.empty() ? "" : ",") + what; };
    if (line.series) {
      const std::size_t kind = *line.series % kinds_of_tikz_marks;
      say(fmt::format("{},{}", colors_.series[kind], dashes[kind]));
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
    static constexpr std::string_view shapes[kinds_of_tikz_marks] = {
        "circle[radius=2pt]",
        "++(-3,-3) -- ++(6,6) ++(-6,0) -- ++(6,-6)",
        "++(-4,0) -- ++(8,0) ++(-4,-4) -- ++(0,8)",
        "++(-3,-3) rectangle ++(6,6)",
        "++(0,-4) -- ++(4,4) -- ++(-4,4) -- ++(-4,-4) -- cycle",
        "++(0,-4) -- ++(4,7) -- ++(-8,0) -- cycle"};
    const std::size_t kind = series % kinds_of_tikz_marks;
    body_ +=
        fmt::format("\\draw[{}{}] ({},{}) {};\n", kind == 0 ? "fill=" : "", colors_.series[kind], x, y, shapes[kind]);
    reach(x + 4, y + 4);
  }

  // Of a kind of lines.
  void add_sample(std::size_t x, std::size_t y, std::size_t series) {
    const Drawing::Line line{.points = {}, .series = series};
    body_ += fmt::format("\\draw[{}] ({},{}) -- ++(14,0);\n", style_of(line), x, y);
  }

  // The color of a cell; empty: none.
  std::string fill_of(double value, const Drawing::Cells& cells, const Strengths& strengths) const {
    const double strength = cells.table.heat == Heat::none ? cells.range.share(value) : strengths.of(value);
    return std::lround(std::fabs(strength) * 100.0) == 0 ? "" : mixed(strength);
  }

  void add_cell(double x, double y, std::size_t width, double value, const Drawing::Cells& cells,
                const Strengths& strengths) {
    if (!cells.range.holds(value)) {
      body_ += fmt::format("\\node[anchor=center] at ({:g},{:g}) {{?}};\n", x + static_cast<double>(width) / 2.0,
                           y + units.line / 2.0);
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
        add_cell(left + static_cast<double>(j * cells.width), top + static_cast<double>(i * units.line), cells.width,
                 (*cells.table.cells)(cells.rows[i], cells.columns[j]), cells, strengths);
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
      const std::size_t width = key + display_width(with_character_numbers(entry.text)) * units.column;
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

  const TikzColors& colors_;
  std::string body_;
  std::size_t origin_ = 0;              // where the drawing itself begins, below its caption
  std::size_t right_ = 0, bottom_ = 0;  // that anything reaches
};

// --- tikz file

DrawnSize size_in_tikz(const Drawing& drawing) { return TikzDrawing(drawing).extent(); }
constexpr Canvas in_tikz_units{units, size_in_tikz};

}  // namespace

// --- tikz

std::string tikz_of(const Picture& picture, const Style& style, bool fits_page) {
  const PictureSettings& settings = style.settings<PictureSettings>();
  const bool is_dark = settings.ground == PictureGround::dark;
  const TikzColors& colors = is_dark ? dark_tikz : light_tikz;
  std::string body;
  DrawnSize whole;
  for (const Picture::Part& part : picture.parts) {
    const TikzDrawing drawn(part.drawing, colors);
    const bool is_moved = part.at.x > 0 || part.at.y > 0;
    if (is_moved) body += fmt::format("\\begin{{scope}}[shift={{({},{})}}]\n", part.at.x, part.at.y);
    body += drawn.body();
    if (is_moved) body += "\\end{scope}\n";
    whole.width = std::max(whole.width, part.at.x + drawn.extent().width);
    whole.height = std::max(whole.height, part.at.y + drawn.extent().height);
  }
  if (is_dark && !settings.transparent) {
    body.insert(0, fmt::format("\\fill[attn-ground] ({0},{0}) rectangle ({1},{2});\n", -static_cast<int>(units.line),
                               whole.width + units.line, whole.height + units.line));
  }
  const std::string drawn = fmt::format(
      "{}\\begin{{tikzpicture}}[x=0.7pt,y=-0.7pt,{}every node/.style={{anchor=west,inner sep=0pt,font=\\ttfamily\\fontsize{{8}}{{10}}\\selectfont}}]\n\\jot=0pt\n{}\\end{{tikzpicture}}",
      is_dark ? definitions_of_dark() : "", is_dark ? "color=attn-ink," : "", body);
  const bool is_wide = whole.width > units.limit, is_high = whole.height > highest;
  if (!fits_page || (!is_wide && !is_high)) return drawn;
  const bool follows_width = whole.width * highest > whole.height * units.limit;
  return fmt::format("\\resizebox{}{{%\n{}}}", follows_width ? "{\\linewidth}{!}" : "{!}{0.85\\textheight}", drawn);
}

std::string tikz_of(const Drawing& drawing) { return tikz_of(Picture{.parts = {{drawing}}}, {}, true); }

// --- tikz file

Picture picture_in_tikz(const ProductBlock& product, const Style& style) {
  Style inner = style;
  inner.own.of<PictureSettings>().note.clear();  // it is a part of a page that says so itself
  inner.own.of<TexSettings>().tells_numbers = true;
  return picture_of(Page{.blocks = {product}}, inner, in_tikz_units);
}

void render_tikz(const Page& page, const Style& style, Sink& sink) {
  Style inner = style;
  inner.own.of<TexSettings>().tells_numbers = true;
  const Picture picture = picture_of(page, inner, in_tikz_units);
  constexpr std::string_view needed = "\\usepackage{amsmath,graphicx,tikz}\n";
  const bool is_document = style.settings<TexSettings>().standalone;
  if (is_document) {
    sink.write(fmt::format("\\documentclass[border=4pt]{{standalone}}\n{}\\begin{{document}}\n", needed));
  } else {
    sink.write(fmt::format("% Needs {}", needed));
  }
  sink.write(tikz_of(picture, style, !is_document) + "\n");
  if (is_document) sink.write("\\end{document}\n");
}

}  // namespace attn
