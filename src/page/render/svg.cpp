#include "page/render/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/support/error.hpp"
#include "page/render/format.hpp"
#include "page/render/html.hpp"
#include "page/render/picture.hpp"
#include "page/render/style.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// Blue is for more than zero, orange for less: the color-blind can tell them apart.
using Color = PictureColor;
constexpr std::array colors = {
    Color{"ground", "#fff", "#16181c"},
    Color{"ink", "#1f2328", "#e6e8eb"},
    Color{"quiet", "#5c6370", "#a7afba"},
    Color{"box", "#f5f6f8", "#22262c"},
    Color{"rule", "#c9ced6", "#4a515b"},
    Color{"link", "#1459aa", "#8cc4ff"},
    Color{"marked", "#ffe08a", "#6e5600"},
    Color{"positive", "20, 80, 170", "70, 140, 215"},
    Color{"negative", "176, 78, 0", "205, 120, 35"},
    Color{"s1", "#1459aa", "#7db9ff"},
    Color{"s2", "#a63c00", "#ffab73"},
    Color{"s3", "#1a7a3e", "#74d697"},
    Color{"s4", "#8a2b8f", "#e29be6"},
    Color{"s5", "#6b5b00", "#e0cd61"},
    Color{"s6", "#a3123f", "#ff8fae"},
};

constexpr std::string_view rules_of_drawing = R"(
.drawing { max-width: 100%; height: auto; }
.drawing text { font: 13px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: var(--ink); white-space: pre; }
.drawing .caption { font-weight: bold; }
.drawing .ground { fill: var(--ground); }
.drawing .box { fill: var(--box); stroke: var(--quiet); }
.drawing .line, .drawing .axis, .drawing .frame { fill: none; stroke: var(--quiet); }
.drawing .head { fill: var(--quiet); }
.drawing .group { fill: none; stroke: var(--quiet); stroke-dasharray: 6 4; }
.drawing .quiet { fill: var(--quiet); }
.drawing .over { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; }
.drawing .tile { fill: var(--marked); }
.drawing .positive { fill: rgb(var(--positive)); }
.drawing .negative { fill: rgb(var(--negative)); }
.drawing .unknown { fill: none; stroke: var(--quiet); stroke-dasharray: 2; }
.drawing .mark { fill: none; stroke-width: 1.6; }
.drawing polyline.mark { fill: none; }
.drawing polyline.s2 { stroke-dasharray: 9 4; }
.drawing polyline.s3 { stroke-dasharray: 3 3; }
.drawing polyline.s4 { stroke-dasharray: 12 3 3 3; }
.drawing polyline.s5 { stroke-dasharray: 18 6; }
.drawing polyline.s6 { stroke-dasharray: 6 3 2 3 2 3; }
.drawing .s1 { stroke: var(--s1); fill: var(--s1); }
.drawing .s2 { stroke: var(--s2); }
.drawing .s3 { stroke: var(--s3); }
.drawing .s4 { stroke: var(--s4); }
.drawing .s5 { stroke: var(--s5); }
.drawing .s6 { stroke: var(--s6); fill: var(--s6); }
)";

template <class ColorOf>
std::string with_colors(const ColorOf& color_of) {
  std::string text(rules_of_drawing);
  for (const Color& color : colors) {
    const std::string variable = fmt::format("var(--{})", color.name);
    for (std::size_t at; (at = text.find(variable)) != std::string::npos;)
      text.replace(at, variable.size(), color_of(color));
  }
  return text;
}

constexpr std::size_t margin_in_pixels = 12;
constexpr std::size_t kinds_of_marks = 6;

class SvgDrawing {
 public:
  explicit SvgDrawing(const Drawing& drawing) {
    if (drawing.caption) add_caption(*drawing.caption);
    origin_ = bottom_;
    for (const Drawing::Tile& tile : drawing.tiles) add(tile);
    for (const Drawing::Frame& frame : drawing.frames) add(frame);
    for (const Drawing::Box& box : drawing.boxes) add(box);
    for (const Drawing::Line& line : drawing.lines) add(line);
    if (drawing.cells) add(*drawing.cells);
    if (drawing.axes) add(*drawing.axes);
    for (const Drawing::Mark& mark : drawing.marks) add_mark(mark.at.x, y_of(mark.at.y), mark.series);
    for (const Drawing::Label& label : drawing.labels) add(label);
    for (const auto& legend : drawing.legends) add_legend(legend, drawing);
  }

  const std::string& body() const { return body_; }
  DrawnSize extent() const { return {right_, bottom_}; }

 private:
  using Point = Drawing::Point;

  // A place is the middle of a line of text and of a column.
  std::size_t y_of(std::size_t y) const { return origin_ + y + pixels.line / 2; }

  void reach(std::size_t x, std::size_t y) {
    right_ = std::max(right_, x);
    bottom_ = std::max(bottom_, y);
  }

  // What stands over a line has a ground of its own.
  void add_text(std::size_t x, std::size_t y, std::string_view text, std::string_view kind = "") {
    const double left = static_cast<double>(x) - pixels.column / 2.0;
    const std::size_t width = display_width(text) * pixels.column;
    const bool is_over = is_crossed(
        {left, static_cast<double>(y) - 6.0, left + static_cast<double>(width), static_cast<double>(y) + 6.0});
    const std::string classes = fmt::format("{}{}{}", kind, is_over && !kind.empty() ? " " : "", is_over ? "over" : "");
    body_ += fmt::format("<text{} x=\"{:g}\" y=\"{}\">{}</text>\n",
                         classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), left, y + pixels.line / 4,
                         in_markup(text));
    reach(x + width, y + pixels.line / 2);
  }

  struct Area {
    double left, top, right, bottom;
  };

  // Whether a line goes through an area.
  bool is_crossed(const Area& area) const {
    return std::ranges::any_of(strokes_, [&](const Stroke& stroke) { return crosses(stroke, area); });
  }

  // A piece of a line, from end to end.
  struct Stroke {
    double x, y, to_x, to_y;
  };

  // The part of it that lies between both edges (Liang and Barsky 1984) is not empty.
  static bool crosses(const Stroke& stroke, const Area& area) {
    double begin = 0.0, end = 1.0;
    const double across = stroke.to_x - stroke.x, down = stroke.to_y - stroke.y;
    for (const auto& [slope, room] :
         {std::pair{-across, stroke.x - area.left}, std::pair{across, area.right - stroke.x},
          std::pair{-down, stroke.y - area.top}, std::pair{down, area.bottom - stroke.y}}) {
      if (slope == 0.0 && room < 0.0) return false;
      if (slope < 0.0) begin = std::max(begin, room / slope);
      if (slope > 0.0) end = std::min(end, room / slope);
    }
    return begin < end;
  }

  void note_stroke(double x, double y, double to_x, double to_y) { strokes_.push_back({x, y, to_x, to_y}); }
  void note_strokes(const std::vector<Point>& points) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      note_stroke(static_cast<double>(points[i - 1].x), static_cast<double>(y_of(points[i - 1].y)),
                  static_cast<double>(points[i].x), static_cast<double>(y_of(points[i].y)));
    }
  }

  void add_caption(const std::string& caption) {
    for (const std::string& line : wrap(caption, pixels.limit / pixels.column)) {
      add_text(0, bottom_ + pixels.line / 2, line, "caption");
    }
    bottom_ += pixels.line / 2;
  }

  void add(const Drawing::Box& box) {
    const std::size_t x = std::min(box.from.x, box.to.x), y = std::min(box.from.y, box.to.y);
    const std::size_t to_x = std::max(box.from.x, box.to.x), to_y = std::max(box.from.y, box.to.y);
    body_ += fmt::format("<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\n", x, y_of(y),
                         to_x - x, to_y - y);
    reach(to_x, y_of(to_y));
  }

  void add(const Drawing::Line& line) {
    std::string points;
    note_strokes(line.points);
    for (const Point& point : line.points) {
      points += fmt::format("{}{},{}", points.empty() ? "" : " ", point.x, y_of(point.y));
      reach(point.x, y_of(point.y));
    }
    const std::string kind = line.series ? fmt::format("mark s{}", *line.series % kinds_of_marks + 1) : "line";
    body_ += fmt::format("<polyline class=\"{}\"{} points=\"{}\"/>\n", kind, weight_of(line), points);
    if (line.has_arrow && line.points.size() > 1) add_head(line);
  }

  // As heavy as the number that a line tells.
  static std::string weight_of(const Drawing::Line& line) {
    if (!line.strength) return "";
    const double strength = std::clamp(*line.strength, 0.0, 1.0), width = line.series ? 6.0 : 3.0;
    return fmt::format(" style=\"stroke-width: {:.2f}; stroke-opacity: {:.2f}\"", 0.4 + width * strength,
                       0.3 + 0.6 * strength);
  }

  static std::string opacity_of(const Drawing::Line& line) {
    if (!line.strength) return "";
    return fmt::format(" style=\"fill-opacity: {:.2f}\"", 0.3 + 0.6 * std::clamp(*line.strength, 0.0, 1.0));
  }

  void add(const Drawing::Frame& frame) {
    body_ += fmt::format("<rect class=\"group\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
                         frame.from.x, y_of(frame.from.y), frame.to.x - frame.from.x, frame.to.y - frame.from.y);
    reach(frame.to.x, y_of(frame.to.y));
    note_strokes({frame.from, {frame.to.x, frame.from.y}, frame.to, {frame.from.x, frame.to.y}, frame.from});
    if (!frame.title.empty()) add_text(frame.from.x + 2 * pixels.column, y_of(frame.from.y), frame.title);
  }

  // Of an arrow that comes along one of the axes.
  void add_head(const Drawing::Line& line) {
    const Point from = line.points.end()[-2], to = line.points.back();
    constexpr double length = 7.0, half = 4.0;
    const double across = static_cast<double>(to.x) - static_cast<double>(from.x),
                 down = static_cast<double>(to.y) - static_cast<double>(from.y);
    const double size = std::max(std::hypot(across, down), 1e-9), dx = across / size, dy = down / size;
    const double x = static_cast<double>(to.x), y = static_cast<double>(y_of(to.y));
    body_ += fmt::format("<polygon class=\"head\"{} points=\"{:g},{:g} {:.1f},{:.1f} {:.1f},{:.1f}\"/>\n",
                         opacity_of(line), x, y, x - length * dx - half * dy, y - length * dy + half * dx,
                         x - length * dx + half * dy, y - length * dy - half * dx);
  }

  void add(const Drawing::Label& label) {
    static constexpr std::string_view classes[] = {"", "caption", "quiet"};
    if (label.text.empty()) return;  // it is for LaTeX
    add_text(label.at.x, y_of(label.at.y), label.text, classes[static_cast<std::size_t>(label.kind)]);
  }

  void add(const Drawing::Tile& tile) {
    const double left = static_cast<double>(tile.at.x) - pixels.column / 2.0;
    const std::size_t top = y_of(tile.at.y) - pixels.line / 2;
    std::string kind = "tile", opacity;
    if (tile.strength) {
      kind = *tile.strength < 0.0 ? "negative" : "positive";
      opacity = fmt::format(" fill-opacity=\"{:.2f}\"", std::fabs(*tile.strength));
    }
    body_ += fmt::format("<rect class=\"{}\" x=\"{:g}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n", kind, left, top,
                         tile.width, tile.height, opacity);
    reach(tile.at.x + tile.width, top + tile.height);
  }

  void add(const Drawing::Axes& axes) {
    body_ += fmt::format("<polyline class=\"axis\" points=\"{0},{1} {0},{2} {3},{2}\"/>\n", axes.from.x,
                         y_of(axes.from.y), y_of(axes.to.y), axes.to.x);
    note_strokes({axes.from, {axes.from.x, axes.to.y}, axes.to});
    for (const std::size_t tick : axes.ticks) {
      body_ += fmt::format("<polyline class=\"axis\" points=\"{0},{1} {2},{1}\"/>\n",
                           axes.from.x - std::min<std::size_t>(axes.from.x, 4), y_of(tick), axes.from.x);
    }
    reach(axes.to.x, y_of(axes.to.y));
  }

  // Each curve has a shape of its own, besides its color.
  void add_mark(std::size_t x, std::size_t y, std::size_t series) {
    const std::size_t kind = series % kinds_of_marks;
    const std::string begin =
        fmt::format("<path class=\"mark s{}\" transform=\"translate({},{})\" d=\"", kind + 1, x, y);
    static constexpr std::string_view shapes[kinds_of_marks] = {"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
                                                                "M-4,-4L4,4M-4,4L4,-4",
                                                                "M-5,0H5M0,-5V5",
                                                                "M-3.5,-3.5H3.5V3.5H-3.5Z",
                                                                "M0,-5L5,0L0,5L-5,0Z",
                                                                "M0,-5L5,4H-5Z"};
    body_ += begin + std::string(shapes[kind]) + "\"/>\n";
    reach(x + 5, y + 5);
  }

  // How strongly a cell is filled, and with which color.
  struct Fill {
    bool is_negative;
    double strength;
  };
  static Fill fill_of(double value, const Drawing::Cells& cells, const Strengths& strengths) {
    if (cells.table.heat == Heat::none) return {false, cells.range.share(value)};
    const bool has_number = cells.width > 2 * pixels.column;  // which stays readable
    const double strength = strengths.of(value), strongest = has_number ? 0.55 : 1.0;
    return {strength < 0.0, std::fabs(strength) * strongest};
  }

  void add_cell(double x, double y, std::size_t width, double value, const Drawing::Cells& cells,
                const Strengths& strengths) {
    if (!cells.range.holds(value)) {
      body_ += fmt::format("<rect class=\"unknown\" x=\"{:g}\" y=\"{:g}\" width=\"{}\" height=\"{}\"/>\n", x, y, width,
                           pixels.line);
      return;
    }
    const Fill fill = fill_of(value, cells, strengths);
    if (fill.strength == 0.0) return;
    body_ +=
        fmt::format("<rect class=\"{}\" x=\"{:g}\" y=\"{:g}\" width=\"{}\" height=\"{}\" fill-opacity=\"{:.2f}\"/>\n",
                    fill.is_negative ? "negative" : "positive", x, y, width, pixels.line, fill.strength);
  }

  void add(const Drawing::Cells& cells) {
    const Strengths strengths(cells.table);
    const double left = static_cast<double>(cells.at.x) - pixels.column / 2.0;
    const std::size_t top = y_of(cells.at.y) - pixels.line / 2;
    const std::size_t width = cells.columns.size() * cells.width, height = cells.rows.size() * pixels.line;
    for (std::size_t i = 0; i < cells.rows.size(); ++i) {
      for (std::size_t j = 0; j < cells.columns.size(); ++j) {
        add_cell(left + static_cast<double>(j * cells.width), static_cast<double>(top + i * pixels.line), cells.width,
                 (*cells.table.cells)(cells.rows[i], cells.columns[j]), cells, strengths);
      }
    }
    body_ += fmt::format("<rect class=\"frame\" x=\"{:g}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", left, top, width,
                         height);
    reach(cells.at.x + width, top + height);
  }

  // Entries beside each other, as far as there is room.
  void add_legend(const std::vector<Drawing::Entry>& entries, const Drawing& drawing) {
    constexpr std::size_t key = 20, gap = 20;
    if (entries.empty()) return;
    bottom_ += pixels.line / 2;
    std::size_t x = 0, y = bottom_ + pixels.line / 2;
    for (const Drawing::Entry& entry : entries) {
      const std::size_t width = key + display_width(entry.text) * pixels.column;
      if (x > 0 && x + width > pixels.limit) {
        x = 0;
        y += pixels.line;
      }
      if (entry.series && !drawing.marks.empty()) add_mark(x + key / 4, y, *entry.series);
      if (entry.series && drawing.marks.empty()) add_sample(x, y, *entry.series);
      if (entry.level && drawing.cells) add_swatch(x, y, *entry.level, *drawing.cells);
      const bool is_keyed = entry.series || entry.level;
      add_text(x + (is_keyed ? key : 0), y, entry.text);
      x += width + gap;
    }
    reach(0, y + pixels.line / 2);
  }

  // Of a kind of lines.
  void add_sample(std::size_t x, std::size_t y, std::size_t series) {
    body_ += fmt::format("<polyline class=\"mark s{}\" style=\"stroke-width: 3\" points=\"{},{} {},{}\"/>\n",
                         series % kinds_of_marks + 1, x - std::min<std::size_t>(x, 4), y, x + 14, y);
  }

  void add_swatch(std::size_t x, std::size_t y, double level, const Drawing::Cells& cells) {
    const double top = static_cast<double>(y) - pixels.line / 2.0;
    const std::size_t width = 2 * pixels.column;
    add_cell(static_cast<double>(x) - 4.0, top, width, level, cells, Strengths(cells.table));
    body_ += fmt::format("<rect class=\"frame\" x=\"{:g}\" y=\"{:g}\" width=\"{}\" height=\"{}\"/>\n",
                         static_cast<double>(x) - 4.0, top, width, pixels.line);
  }

  std::string body_;
  std::vector<Stroke> strokes_;
  std::size_t origin_ = 0;              // where the drawing itself begins, below its caption
  std::size_t right_ = 0, bottom_ = 0;  // that anything reaches
};

}  // namespace

std::span<const PictureColor> picture_colors() { return colors; }

std::string svg_of(const Picture& picture, std::string_view id, std::string_view rules, bool has_ground) {
  std::string body;
  DrawnSize whole;
  for (const Picture::Part& part : picture.parts) {
    const SvgDrawing drawn(part.drawing);
    const bool is_moved = part.at.x > 0 || part.at.y > 0;
    if (is_moved) body += fmt::format("<g transform=\"translate({},{})\">\n", part.at.x, part.at.y);
    body += drawn.body();
    if (is_moved) body += "</g>\n";
    whole.width = std::max(whole.width, part.at.x + drawn.extent().width);
    whole.height = std::max(whole.height, part.at.y + drawn.extent().height);
  }
  const std::size_t width = whole.width + margin_in_pixels + pixels.column,
                    height = whole.height + 2 * margin_in_pixels;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"img\" aria-labelledby=\"{0}-title {0}-description\" viewBox=\"-{1} -{2} {3} {4}\" width=\"{3}\" height=\"{4}\">\n"
      "<title id=\"{0}-title\">{5}</title>\n<desc id=\"{0}-description\">{6}</desc>\n",
      id, margin_in_pixels, margin_in_pixels, width, height, in_markup(picture.title), in_markup(picture.description));
  if (!rules.empty()) text += fmt::format("<style>{}</style>\n", rules);
  if (has_ground) {
    text += fmt::format("<rect class=\"ground\" x=\"-{}\" y=\"-{}\" width=\"{}\" height=\"{}\"/>\n", margin_in_pixels,
                        margin_in_pixels, width, height);
  }
  return text + body + "</svg>\n";
}

std::string svg_of(const Drawing& drawing, std::string_view id, std::string_view rules) {
  return svg_of(Picture{.title = drawing.title, .description = drawing.description, .parts = {{drawing}}}, id, rules,
                !rules.empty());
}

DrawnSize size_in_svg(const Drawing& drawing) { return SvgDrawing(drawing).extent(); }

std::string color_variables(std::string_view elements) {
  const auto all = [](auto color_of) {
    std::string text = "color-scheme: light dark;";
    for (const Color& color : colors) text += fmt::format(" --{}: {};", color.name, color_of(color));
    return text;
  };
  return fmt::format("\n{0} {{ {1} }}\n@media (prefers-color-scheme: dark) {{ {0} {{ {2} }} }}\n", elements,
                     all([](const Color& color) { return color.light; }),
                     all([](const Color& color) { return color.dark; }));
}

std::string_view rules_for_drawings() { return rules_of_drawing; }

// Programs that draw SVG and are no browsers know no variables.
std::string rules_of_file(PictureGround ground) {
  const std::string light = with_colors([](const Color&color) { return color.light; }),
                    dark = with_colors([](const Color&color) { return color.dark; });
  switch (ground) {
    case PictureGround::light:
      return light;
    case PictureGround::dark:
      return dark;
    case PictureGround::any:
      break;
  }
  return light + "@media (prefers-color-scheme: dark) {" + dark + "}\n";
}

}  // namespace attn
