#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/drawing.hpp"
#include "render/width.hpp"
#include "render/written.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 6> marks = {"•", "×", "+", "o", "#", "*"};
constexpr std::array<std::string_view, 6> ascii_marks = {"*", "x", "+", "o", "#", "@"};
constexpr std::size_t height = 16;

// One axis: where a number lies between the ends, from 0 to 1.
class Range {
 public:
  explicit Range(Spacing spacing) : spacing_(spacing) {}

  void include(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  double share(double value) const {
    const double from = place(least_), to = place(most_);
    return to > from ? (place(value) - from) / (to - from) : 0.5;
  }
  /// The number at a share of the axis.
  double at(double share) const {
    const double value = place(least_) + share * (place(most_) - place(least_));
    return spacing_ == Spacing::even ? value : std::pow(10.0, value);
  }
  bool is_empty() const { return least_ > most_; }

 private:
  double place(double value) const { return spacing_ == Spacing::even ? value : std::log10(value); }

  Spacing spacing_;
  double least_ = INFINITY, most_ = -INFINITY;
};

class PlotWriter {
 public:
  PlotWriter(const Plot& plot, const Style& style, Sink& sink)
      : plot_(plot), style_(style), sink_(sink), x_(plot.x_spacing), y_(plot.y_spacing) {
    for (const Series& series : plot.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        x_.include(series.x[i]);
        y_.include(series.y[i]);
      }
    }
  }

  void write() {
    sink_.write("  " + signs(plot_.title) + "\n");
    if (x_.is_empty()) return;
    make_labels();
    draw();
    for (std::size_t line = 0; line < height; ++line) write_line(line);
    write_axis();
    write_legend();
  }

 private:
  std::string signs(std::string_view text) const { return printable(style_.unicode ? text : in_ascii(text)); }
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
    constexpr std::size_t usual = 80, margin = 5, least = 16, most = 72;
    const std::size_t limit = style_.width == 0 ? usual : style_.width;
    width_ = limit > label_width_ + margin + least ? std::min(most, limit - label_width_ - margin) : least;
  }

  void draw() {
    grid_.assign(height * width_, std::string_view(" "));
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      const Series& series = plot_.series[s];
      for (std::size_t i = 0; i < series.x.size(); ++i) {
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
    const std::string left = numeral(x_.at(0.0)), right = numeral(x_.at(1.0)), middle = signs(plot_.x_name);
    const std::size_t used = display_width(left) + display_width(middle) + display_width(right);
    const std::size_t blanks = width_ > used + 2 ? width_ - used : 2;
    sink_.write(std::string(label_width_ + 4, ' ') + left + std::string(blanks / 2, ' ') + middle +
                std::string(blanks - blanks / 2, ' ') + right + "\n");
  }

  void write_legend() {
    std::string legend;
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      legend += fmt::format("{}{} {}", s ? "   " : "  ", mark(s), signs(plot_.series[s].name));
    }
    sink_.write(legend + "\n");
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
