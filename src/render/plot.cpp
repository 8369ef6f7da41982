#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/drawing.hpp"
#include "render/range.hpp"
#include "render/width.hpp"
#include "render/written.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 6> marks = {"•", "×", "+", "o", "#", "*"};
constexpr std::array<std::string_view, 6> ascii_marks = {"*", "x", "+", "o", "#", "@"};
constexpr std::size_t height = 17;  // odd, so that there is a middle

class PlotWriter {
 public:
  PlotWriter(const Plot& plot, const Style& style, Sink& sink)
      : plot_(plot), style_(style), sink_(sink), x_(plot.x_spacing), y_(plot.y_spacing) {
    for (const Series& series : plot.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        if (!is_drawn(series, i)) continue;
        x_.include(series.x[i]);
        y_.include(series.y[i]);
      }
    }
  }

  void write() {
    for (const std::string& line : wrap(signs(plot_.title), limit() - 2)) sink_.write("  " + line + "\n");
    if (x_.is_empty()) {
      sink_.write("  nothing to draw\n");
      return;
    }
    make_labels();
    draw();
    for (std::size_t line = 0; line < height; ++line) write_line(line);
    write_axis();
    write_legend();
  }

 private:
  // A point needs a place on both axes.
  bool is_drawn(const Series& series, std::size_t i) const {
    return x_.holds(series.x[i]) && y_.holds(series.y[i]);
  }
  std::size_t limit() const {
    constexpr std::size_t usual = 80, least = 20;
    return style_.width == 0 ? usual : std::max(style_.width, least);
  }
  std::string signs(std::string_view text) const { return printable(style_.unicode ? text : in_ascii(text)); }
  std::string fitting(std::string_view text, std::size_t width) const {
    return shortened(signs(text), width, style_.unicode ? "…" : "~");
  }
  std::string_view mark(std::size_t series) const {
    return (style_.unicode ? marks : ascii_marks)[series % marks.size()];
  }
  std::string numeral(double value) const {
    const Notation notation{.precision = std::min(style_.precision, 3)};
    return signs(written_number(value, notation).text);
  }

  // Numbers at the top, in the middle and at the bottom.
  void make_labels() {
    for (const std::size_t line : {std::size_t{0}, height / 2, height - 1}) {
      labels_[line] = numeral(y_.at(1.0 - static_cast<double>(line) / static_cast<double>(height - 1)));
      label_width_ = std::max(label_width_, display_width(labels_[line]));
    }
    constexpr std::size_t margin = 4, least = 6, most = 72;
    width_ = std::clamp(limit() - std::min(limit(), label_width_ + margin), least, most);
  }

  void draw() {
    grid_.assign(height * width_, std::string_view(" "));
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      const Series& series = plot_.series[s];
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        if (!is_drawn(series, i)) continue;
        const double across = x_.share(series.x[i]) * static_cast<double>(width_ - 1);
        const double down = (1.0 - y_.share(series.y[i])) * static_cast<double>(height - 1);
        const auto column = static_cast<std::size_t>(std::lround(across));
        const auto line = static_cast<std::size_t>(std::lround(down));
        grid_[line * width_ + column] = mark(s);
      }
    }
  }

  void write_line(std::size_t line) {
    std::string text = "  " + std::string(label_width_ - display_width(labels_[line]), ' ') + labels_[line];
    text += style_.unicode ? (labels_[line].empty() ? " │" : " ┤") : " |";
    for (std::size_t column = 0; column < width_; ++column) text += grid_[line * width_ + column];
    text.erase(text.find_last_not_of(' ') + 1);
    sink_.write(text + "\n");
  }

  void write_axis() {
    std::string line = "  " + std::string(label_width_ + 1, ' ') + (style_.unicode ? "└" : "+");
    for (std::size_t column = 0; column < width_; ++column) line += style_.unicode ? "─" : "-";
    sink_.write(line + "\n");
    const std::string name = signs(plot_.x_name), margin(label_width_ + 4, ' ');
    const std::string left = numeral(x_.at(0.0)), right = x_.is_constant() ? "" : numeral(x_.at(1.0));
    const std::size_t ends = display_width(left) + display_width(right);
    if (ends >= width_) return write_entries({name + ": " + left + " to", right}, limit(), sink_);
    const bool fits = ends + display_width(name) + 2 <= width_;
    const std::size_t used = ends + (fits ? display_width(name) : 0);
    const std::size_t blanks = width_ > used ? width_ - used : 1;
    line = margin + left + std::string(blanks / 2, ' ') + (fits ? name : "") +
           std::string(blanks - blanks / 2, ' ') + right;
    line.erase(line.find_last_not_of(' ') + 1);
    sink_.write(line + "\n");
    if (!fits) sink_.write(margin + fitting(plot_.x_name, width_) + "\n");
  }

  void write_legend() {
    std::vector<std::string> entries;
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      entries.push_back(fmt::format("{} {}", mark(s), fitting(plot_.series[s].name, limit() - 4)));
    }
    write_entries(entries, limit(), sink_);
  }

  const Plot& plot_;
  const Style& style_;
  Sink& sink_;
  Range x_, y_;
  std::array<std::string, height> labels_;
  std::size_t label_width_ = 0;
  std::size_t width_ = 0;
  std::vector<std::string_view> grid_;
};

}  // namespace

void write_plot(const Plot& plot, const Style& style, Sink& sink) {
  PlotWriter(plot, style, sink).write();
}

}  // namespace attn
