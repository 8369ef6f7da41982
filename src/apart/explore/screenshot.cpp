#include "apart/explore/screenshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

// What the sequences of a look ask for.
struct Paint {
  std::optional<Rgb> text, ground;
};

// The colors of a terminal by number: sixteen that have names, a cube of six steps, and grays.
Rgb of_palette(int number) {
  constexpr std::array<Rgb, 16> named = {Rgb{0, 0, 0},    {205, 49, 49},   {13, 188, 121}, {229, 229, 16},
                                         {36, 114, 200},  {188, 63, 188},  {17, 168, 205}, {229, 229, 229},
                                         {102, 102, 102}, {241, 76, 76},   {35, 209, 139}, {245, 245, 67},
                                         {59, 142, 234},  {214, 112, 214}, {41, 184, 219}, {255, 255, 255}};
  constexpr int first_of_cube = 16, first_gray = 232;
  if (number < first_of_cube) return named[static_cast<std::size_t>(std::max(number, 0))];
  if (number >= first_gray) {
    const int gray = 8 + 10 * (number - first_gray);
    return {gray, gray, gray};
  }
  const auto step = [](int n) { return n == 0 ? 0 : 55 + 40 * n; };
  const int n = number - first_of_cube;
  return {step(n / 36), step(n / 6 % 6), step(n % 6)};
}

// "\x1b[38;5;231;48;2;0;10;20m"
Paint paint_of(std::string_view sequences) {
  Paint paint;
  std::vector<int> numbers;
  for (std::size_t at = sequences.find('['); at != std::string_view::npos; at = sequences.find('[', at + 1)) {
    const std::size_t end = sequences.find('m', at);
    if (end == std::string_view::npos) break;
    for (const std::string_view one : split_at(sequences.substr(at + 1, end - at - 1), ';'))
      numbers.push_back(parse_number<int>(one).value_or(0));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int code = numbers[i];
    std::optional<Rgb>& part = code >= 40 && code != 90 && (code < 90 || code >= 100) ? paint.ground : paint.text;
    if ((code == 38 || code == 48) && i + 2 < numbers.size() && numbers[i + 1] == 5) {
      part = of_palette(numbers[i + 2]);
      i += 2;
    } else if ((code == 38 || code == 48) && i + 4 < numbers.size() && numbers[i + 1] == 2) {
      part = Rgb{numbers[i + 2], numbers[i + 3], numbers[i + 4]};
      i += 4;
    } else if ((code >= 30 && code <= 37) || (code >= 40 && code <= 47)) {
      part = of_palette(code % 10);
    } else if ((code >= 90 && code <= 97) || (code >= 100 && code <= 107)) {
      part = of_palette(8 + code % 10);
    }
  }
  return paint;
}

std::string hex(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

Rgb between(Rgb one, Rgb other) {
  return {(one.red + other.red) / 2, (one.green + other.green) / 2, (one.blue + other.blue) / 2};
}

std::string in_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

constexpr double width = 8.4, height = 18.0, margin = 12.0, base = 13.5;  // of a cell, around all, and of a letter

Rgb ink_on(Rgb ground) { return ground.luminance() > 0.5 ? Rgb{31, 35, 40} : Rgb{230, 232, 235}; }

std::string row_in_svg(const Grid& grid, std::size_t row, Rgb ground) {
  const Rgb ink = ink_on(ground);
  const TerminalSize size = grid.size();
  std::string out;
  for (std::size_t column = 0; column < size.columns;) {
    const Look& look = grid.at(row, column).look;
    std::size_t end = column;
    while (end < size.columns && grid.at(row, end).look == look) ++end;
    Paint paint = paint_of(look.color);
    Rgb front = paint.text.value_or(ink);
    std::optional<Rgb> behind = paint.ground;
    if (look.dim) front = between(front, behind.value_or(ground));
    if (look.reversed) {
      const Rgb old = behind.value_or(ground);
      behind = front;
      front = old;
    }
    const double x = margin + width * static_cast<double>(column), y = margin + height * static_cast<double>(row);
    const double wide = width * static_cast<double>(end - column);
    if (behind)
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                         wide, height, hex(*behind));
    // Blanks are left out: what reads the picture may join them.
    const std::string attributes = fmt::format("fill=\"{}\"{}{}", hex(front), look.bold ? " font-weight=\"bold\"" : "",
                                               look.underlined ? " text-decoration=\"underline\"" : "");
    for (std::size_t first = column; first < end;) {
      const auto is_blank = [&](std::size_t i) { return grid.at(row, i).text == " "; };
      if (is_blank(first)) {
        ++first;
        continue;
      }
      std::size_t last = first;
      std::string word;
      for (; last < end && !is_blank(last); ++last) word += grid.at(row, last).text;
      out += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" textLength=\"{:.1f}\" lengthAdjust=\"spacingAndGlyphs\" {}>{}</text>\n",
          margin + width * static_cast<double>(first), y + base, width * static_cast<double>(last - first), attributes,
          in_xml(word));
      first = last;
    }
    column = end;
  }
  return out;
}

std::string opened_svg(TerminalSize size, Rgb ground, std::string_view title, std::string_view style) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.1f} {1:.1f}\" width=\"{0:.1f}\" height=\"{1:.1f}\" "
      "role=\"img\">\n<title>{4}</title>\n{3}<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{2}\"/>\n"
      "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n",
      2 * margin + width * static_cast<double>(size.columns), 2 * margin + height * static_cast<double>(size.rows),
      hex(ground), style, in_xml(title));
}
constexpr std::string_view closed_svg = "</g>\n</svg>\n";

}  // namespace

std::string screenshot(const Grid& grid, Rgb ground, std::string_view title) {
  std::string out = opened_svg(grid.size(), ground, title, "");
  for (std::size_t row = 0; row < grid.size().rows; ++row) out += row_in_svg(grid, row, ground);
  return out + std::string(closed_svg);
}

std::string recording(const std::vector<TimedScreen>& frames, Rgb ground, std::string_view title) {
  double total = 0.0;
  std::vector<double> begins;
  for (const TimedScreen& frame : frames) {
    begins.push_back(total);
    total += frame.seconds;
  }
  begins.push_back(total);
  // Of each row, what it shows from one frame until another one. What never changes is always there.
  struct Shown {
    std::size_t first, behind;
    std::string svg;
  };
  std::vector<Shown> all;
  std::set<std::pair<std::size_t, std::size_t>> spans;
  for (std::size_t row = 0; row < frames.front().grid.size().rows; ++row) {
    for (std::size_t i = 0; i < frames.size();) {
      Shown shown{i, i + 1, row_in_svg(frames[i].grid, row, ground)};
      while (shown.behind < frames.size() && row_in_svg(frames[shown.behind].grid, row, ground) == shown.svg)
        ++shown.behind;
      i = shown.behind;
      if (shown.svg.empty()) continue;
      spans.emplace(shown.first, shown.behind);
      all.push_back(std::move(shown));
    }
  }
  // Where nothing moves, the last frame stands.
  std::string style = "<style>\n";
  for (const auto& [first, behind] : spans) {
    if (first == 0 && behind == frames.size()) continue;
    const double from = 100 * begins[first] / total, until = 100 * begins[behind] / total;
    const bool is_last = behind == frames.size();
    style += fmt::format("@keyframes f{0}-{1}{{0%{{visibility:{2}}}{3:.3f}%{{visibility:visible}}{4}}}\n", first,
                         behind, first == 0 ? "visible" : "hidden", from,
                         is_last ? "" : fmt::format("{:.3f}%,100%{{visibility:hidden}}", until));
    style += fmt::format(".f{0}-{1}{{{2}animation:f{0}-{1} {3:.2f}s step-end infinite}}\n", first, behind,
                         is_last ? "" : "visibility:hidden;", total);
  }
  style += "@media (prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n";
  std::string out = opened_svg(frames.front().grid.size(), ground, title, style);
  for (const Shown& shown : all) {
    if (shown.first == 0 && shown.behind == frames.size()) {
      out += shown.svg;
    } else {
      out += fmt::format("<g class=\"f{}-{}\">\n{}</g>\n", shown.first, shown.behind, shown.svg);
    }
  }
  return out + std::string(closed_svg);
}

}  // namespace attn
