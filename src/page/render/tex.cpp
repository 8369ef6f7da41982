#include "page/render/tex.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "page/render/style.hpp"
#include "page/render/width.hpp"

namespace attn {

// --- tex

namespace {

struct Written {
  char32_t point;
  std::string_view tex;
};

// Sorted by point.
constexpr std::array characters_in_tex = {
    Written{U'"', "{\\ttfamily\\char34}"},
    Written{U'#', "\\#"},
    Written{U'$', "\\$"},
    Written{U'%', "\\%"},
    Written{U'&', "\\&"},
    Written{U'<', "\\textless{}"},
    Written{U'>', "\\textgreater{}"},
    Written{U'\\', "\\textbackslash{}"},
    Written{U'^', "\\textasciicircum{}"},
    Written{U'_', "\\_"},
    Written{U'`', "{\\ttfamily\\char96}"},
    Written{U'{', "\\{"},
    Written{U'|', "\\textbar{}"},
    Written{U'}', "\\}"},
    Written{U'~', "\\textasciitilde{}"},
    Written{0xA0, "~"},
    Written{0xA1, "\\textexclamdown{}"},
    Written{0xA3, "\\pounds{}"},
    Written{0xA7, "\\S{}"},
    Written{0xA9, "\\copyright{}"},
    Written{0xAB, "\\ensuremath{\\ll}"},
    Written{0xB0, "\\ensuremath{^{\\circ}}"},
    Written{0xB1, "\\ensuremath{\\pm}"},
    Written{0xB2, "\\ensuremath{^{2}}"},
    Written{0xB3, "\\ensuremath{^{3}}"},
    Written{0xB6, "\\P{}"},
    Written{0xB7, "\\ensuremath{\\cdot}"},
    Written{0xB9, "\\ensuremath{^{1}}"},
    Written{0xBB, "\\ensuremath{\\gg}"},
    Written{0xBD, "\\ensuremath{\\frac{1}{2}}"},
    Written{0xBF, "\\textquestiondown{}"},
    Written{0xC6, "\\AE{}"},
    Written{0xD7, "\\ensuremath{\\times}"},
    Written{0xD8, "\\O{}"},
    Written{0xDF, "\\ss{}"},
    Written{0xE6, "\\ae{}"},
    Written{0xF7, "\\ensuremath{\\div}"},
    Written{0xF8, "\\o{}"},
    Written{0x131, "\\i{}"},
    Written{0x141, "\\L{}"},
    Written{0x142, "\\l{}"},
    Written{0x152, "\\OE{}"},
    Written{0x153, "\\oe{}"},
    Written{0x391, "A"},
    Written{0x392, "B"},
    Written{0x393, "\\ensuremath{\\Gamma}"},
    Written{0x394, "\\ensuremath{\\Delta}"},
    Written{0x395, "E"},
    Written{0x396, "Z"},
    Written{0x397, "H"},
    Written{0x398, "\\ensuremath{\\Theta}"},
    Written{0x399, "I"},
    Written{0x39A, "K"},
    Written{0x39B, "\\ensuremath{\\Lambda}"},
    Written{0x39C, "M"},
    Written{0x39D, "N"},
    Written{0x39E, "\\ensuremath{\\Xi}"},
    Written{0x39F, "O"},
    Written{0x3A0, "\\ensuremath{\\Pi}"},
    Written{0x3A1, "P"},
    Written{0x3A3, "\\ensuremath{\\Sigma}"},
    Written{0x3A4, "T"},
    Written{0x3A5, "\\ensuremath{\\Upsilon}"},
    Written{0x3A6, "\\ensuremath{\\Phi}"},
    Written{0x3A7, "X"},
    Written{0x3A8, "\\ensuremath{\\Psi}"},
    Written{0x3A9, "\\ensuremath{\\Omega}"},
    Written{0x3B1, "\\ensuremath{\\alpha}"},
    Written{0x3B2, "\\ensuremath{\\beta}"},
    Written{0x3B3, "\\ensuremath{\\gamma}"},
    Written{0x3B4, "\\ensuremath{\\delta}"},
    Written{0x3B5, "\\ensuremath{\\varepsilon}"},
    Written{0x3B6, "\\ensuremath{\\zeta}"},
    Written{0x3B7, "\\ensuremath{\\eta}"},
    Written{0x3B8, "\\ensuremath{\\theta}"},
    Written{0x3B9, "\\ensuremath{\\iota}"},
    Written{0x3BA, "\\ensuremath{\\kappa}"},
    Written{0x3BB, "\\ensuremath{\\lambda}"},
    Written{0x3BC, "\\ensuremath{\\mu}"},
    Written{0x3BD, "\\ensuremath{\\nu}"},
    Written{0x3BE, "\\ensuremath{\\xi}"},
    Written{0x3BF, "\\ensuremath{o}"},
    Written{0x3C0, "\\ensuremath{\\pi}"},
    Written{0x3C1, "\\ensuremath{\\rho}"},
    Written{0x3C2, "\\ensuremath{\\varsigma}"},
    Written{0x3C3, "\\ensuremath{\\sigma}"},
    Written{0x3C4, "\\ensuremath{\\tau}"},
    Written{0x3C5, "\\ensuremath{\\upsilon}"},
    Written{0x3C6, "\\ensuremath{\\varphi}"},
    Written{0x3C7, "\\ensuremath{\\chi}"},
    Written{0x3C8, "\\ensuremath{\\psi}"},
    Written{0x3C9, "\\ensuremath{\\omega}"},
    Written{0x1D40, "\\ensuremath{^{\\top}}"},
    Written{0x1D62, "\\ensuremath{_{i}}"},
    Written{0x2010, "-"},
    Written{0x2011, "-"},
    Written{0x2013, "\\textendash{}"},
    Written{0x2014, "\\textemdash{}"},
    Written{0x2016, "\\ensuremath{\\Vert}"},
    Written{0x2018, "\\textquoteleft{}"},
    Written{0x2019, "\\textquoteright{}"},
    Written{0x201C, "``"},
    Written{0x201D, "''"},
    Written{0x2022, "\\textbullet{}"},
    Written{0x2026, "\\ldots{}"},
    Written{0x2032, "\\ensuremath{'}"},
    Written{0x2070, "\\ensuremath{^{0}}"},
    Written{0x2074, "\\ensuremath{^{4}}"},
    Written{0x2075, "\\ensuremath{^{5}}"},
    Written{0x2076, "\\ensuremath{^{6}}"},
    Written{0x2077, "\\ensuremath{^{7}}"},
    Written{0x2078, "\\ensuremath{^{8}}"},
    Written{0x2079, "\\ensuremath{^{9}}"},
    Written{0x207B, "\\ensuremath{^{-}}"},
    Written{0x2080, "\\ensuremath{_{0}}"},
    Written{0x2081, "\\ensuremath{_{1}}"},
    Written{0x2082, "\\ensuremath{_{2}}"},
    Written{0x2083, "\\ensuremath{_{3}}"},
    Written{0x2190, "\\ensuremath{\\leftarrow}"},
    Written{0x2191, "\\ensuremath{\\uparrow}"},
    Written{0x2192, "\\ensuremath{\\rightarrow}"},
    Written{0x2193, "\\ensuremath{\\downarrow}"},
    Written{0x2208, "\\ensuremath{\\in}"},
    Written{0x2211, "\\ensuremath{\\sum}"},
    Written{0x2212, "\\ensuremath{-}"},
    Written{0x221A, "\\ensuremath{\\surd}"},
    Written{0x221E, "\\ensuremath{\\infty}"},
    Written{0x2248, "\\ensuremath{\\approx}"},
    Written{0x2260, "\\ensuremath{\\neq}"},
    Written{0x2264, "\\ensuremath{\\leq}"},
    Written{0x2265, "\\ensuremath{\\geq}"},
    Written{0x2299, "\\ensuremath{\\odot}"},
    Written{0x22C5, "\\ensuremath{\\cdot}"},
    Written{0x22EF, "\\ensuremath{\\cdots}"},
    Written{0x2500, "-"},
    Written{0x2502, "\\textbar{}"},
    Written{0x2713, "\\ensuremath{\\surd}"},
    Written{0x2717, "\\ensuremath{\\times}"},
    Written{0x2C7C, "\\ensuremath{_{j}}"},
};

struct Accent {
  char32_t mark;
  std::string_view command;
};
constexpr std::array accents = {
    Accent{0x300, "\\`"}, Accent{0x301, "\\'"}, Accent{0x302, "\\^"},  Accent{0x303, "\\~"}, Accent{0x304, "\\="},
    Accent{0x306, "\\u"}, Accent{0x307, "\\."}, Accent{0x308, "\\\""}, Accent{0x30A, "\\r"}, Accent{0x30B, "\\H"},
    Accent{0x30C, "\\v"}, Accent{0x323, "\\d"}, Accent{0x327, "\\c"},  Accent{0x331, "\\b"},
};

bool is_ascii_letter(char32_t point) { return (point >= U'a' && point <= U'z') || (point >= U'A' && point <= U'Z'); }

std::string_view written_sign(char32_t point) {
  const auto found = std::ranges::lower_bound(characters_in_tex, point, {}, &Written::point);
  return found != characters_in_tex.end() && found->point == point ? found->tex : std::string_view();
}

std::string_view accent_of(char32_t mark) {
  const auto found = std::ranges::find(accents, mark, &Accent::mark);
  return found == accents.end() ? std::string_view() : found->command;
}

// A Greek letter with an accent, which is a sign of mathematics; nothing for any other.
std::string accented_sign(char32_t letter, char32_t mark) {
  constexpr std::string_view begin = "\\ensuremath{";
  const std::string_view accent = mark == 0x301 ? "\\acute" : mark == 0x300 ? "\\grave" : mark == 0x308 ? "\\ddot" : "";
  const std::string_view sign = written_sign(letter);
  if (accent.empty() || !sign.starts_with(begin)) return "";
  return fmt::format("{}{}{{{}}}}}", begin, accent, sign.substr(begin.size(), sign.size() - begin.size() - 1));
}

// A letter with marks on it: é is \'{e}. Nothing where there is no accent for one.
std::string accented(char32_t point) {
  std::array<utf8proc_int32_t, 8> parts{};
  int state = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), parts.data(),
                              static_cast<utf8proc_ssize_t>(parts.size()), UTF8PROC_DECOMPOSE, &state);
  if (count < 2 || count > static_cast<utf8proc_ssize_t>(parts.size())) return "";
  if (!is_ascii_letter(static_cast<char32_t>(parts[0]))) {
    return count == 2 ? accented_sign(static_cast<char32_t>(parts[0]), static_cast<char32_t>(parts[1])) : "";
  }
  std::string text(1, static_cast<char>(parts[0]));
  if (text == "i" || text == "j") text = "\\" + text + "{}";  // their points make room for the mark
  for (std::size_t i = 1; i < static_cast<std::size_t>(count); ++i) {
    const std::string_view command = accent_of(static_cast<char32_t>(parts[i]));
    if (command.empty()) return "";
    text = std::string(command) + "{" + text + "}";
  }
  return text;
}

// The points of a text, without what a terminal could take for a command.
template <class Take>
void each_point(std::string_view text, const Take& take) {
  const std::string shown = printable(text);
  for (std::size_t at = 0; at < shown.size();) {
    utf8proc_int32_t point = -1;
    at += static_cast<std::size_t>(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(shown.data()) + at,
                                                    static_cast<utf8proc_ssize_t>(shown.size() - at), &point));
    take(static_cast<char32_t>(point));
  }
}

// A sign or a letter; empty: there is none.
std::string sign_or_letter(char32_t point) {
  if (const std::string_view sign = written_sign(point); !sign.empty()) return std::string(sign);
  return point < 0x80 ? std::string(1, static_cast<char>(point)) : accented(point);
}

// Whether TeX would make one sign of the two.
bool become_one_sign(char32_t one, char32_t next) {
  const auto is_any_of = [](char32_t point, std::u32string_view points) {
    return points.find(point) != std::u32string_view::npos;
  };
  return (one == next && is_any_of(one, U"-,")) || (is_any_of(one, U"'\u201D") && is_any_of(next, U"'\u201D")) ||
         (is_any_of(one, U"?!") && next == U'\u201C');
}

}  // namespace

std::string in_tex(std::string_view text) {
  std::string result;
  char32_t last = 0;
  each_point(text, [&](char32_t point) {
    if (become_one_sign(last, point)) result += "{}";
    last = point;
    const std::string written_point = sign_or_letter(point);
    result += written_point.empty()
                  ? fmt::format("\\texttt{{U+{:04X}}}\\allowbreak{{}}", static_cast<std::uint32_t>(point))
                  : written_point;
  });
  return result;
}

bool has_numbers_in_tex(std::string_view text) {
  bool has = false;
  each_point(text, [&](char32_t point) { has = has || sign_or_letter(point).empty(); });
  return has;
}

// As in Computer Modern, whose digits are 0.5 em.
double width_in_tex(std::string_view text) {
  double width = 0.0;
  each_point(text, [&](char32_t point) {
    constexpr std::u32string_view narrow = U"ijltfrI1.,;:!'()[]| ", wide = U"mwMW@&%";
    if (sign_or_letter(point).empty()) {
      width += point > 0xFFFF ? 7.5 : 6.4;
    } else if (wide.find(point) != std::u32string_view::npos) {
      width += 2.0;
    } else if (narrow.find(point) != std::u32string_view::npos) {
      width += 0.8;
    } else if ((point >= U'A' && point <= U'Z') || point >= 0x80) {
      width += 1.6;
    } else {
      width += 1.15;
    }
  });
  return width;
}

// --- tikz

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
        "\\begin{tikzpicture}[x=0.7pt,y=-0.7pt,every node/.style={anchor=west,inner sep=0pt,font=\\ttfamily\\fontsize{8}{10}\\selectfont}]\n" +
        body_ + "\\end{tikzpicture}";
    const bool is_wide = right_ > units.limit, is_high = bottom_ > highest;
    if (!is_wide && !is_high) return drawn;
    const bool follows_width = right_ * highest > bottom_ * units.limit;
    return fmt::format("\\resizebox{}{{%\n{}}}", follows_width ? "{\\linewidth}{!}" : "{!}{0.85\\textheight}", drawn);
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
    body_ += fmt::format("\\draw[rounded corners=1.5pt,fill=black!4] ({},{}) rectangle ({},{});\n", box.from.x,
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
    static constexpr std::string_view shapes[kinds_of_marks] = {"circle[radius=2pt]",
                                                                "++(-3,-3) -- ++(6,6) ++(-6,0) -- ++(6,-6)",
                                                                "++(-4,0) -- ++(8,0) ++(-4,-4) -- ++(0,8)",
                                                                "++(-3,-3) rectangle ++(6,6)",
                                                                "++(0,-4) -- ++(4,4) -- ++(-4,4) -- ++(-4,-4) -- cycle",
                                                                "++(0,-4) -- ++(4,7) -- ++(-8,0) -- cycle"};
    const std::size_t kind = series % kinds_of_marks;
    body_ +=
        fmt::format("\\draw[{}{}] ({},{}) {};\n", kind == 0 ? "fill=" : "", series_colors[kind], x, y, shapes[kind]);
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

std::string tikz_of(const Drawing& drawing) { return TikzDrawing(drawing).picture(); }

}  // namespace attn
