#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/drawing.hpp"
#include "render/steps.hpp"
#include "render/table_layout.hpp"
#include "render/value_range.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 6> marks = {"•", "×", "+", "o", "#", "*"};
constexpr std::array<std::string_view, 6> ascii_marks = {"*", "x", "+", "o", "#", "@"};
constexpr std::size_t height = 11;  // odd, so that there is a middle

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
    for (const std::string& line : wrap(style_.signs(plot_.title), style_.limit() - 2))
      sink_.write("  " + line + "\n");
    if (x_.is_empty()) {
      sink_.write("  no values to plot\n");
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
  std::string fitting(std::string_view text, std::size_t width) const {
    return shortened(style_.signs(text), width, style_.unicode ? "…" : "~");
  }
  std::string_view mark(std::size_t series) const {
    return (style_.unicode ? marks : ascii_marks)[series % marks.size()];
  }
  // Numbers along one axis: with the same decimals, or each by itself where their sizes differ by powers.
  std::vector<std::string> numerals(const ValueRange& range, Spacing spacing,
                                    const std::vector<double>& shares) const {
    Matrix values({shares.size(), 1});
    for (std::size_t i = 0; i < shares.size(); ++i) values(i, 0) = range.at(shares[i]);
    const int precision = std::min(style_.precision, 3);
    Digits together = digits_for(values, precision);
    if (together.scientific) {
      together.decimals = std::min(together.decimals, 2);
    } else if (spacing == Spacing::even) {
      // What is next to nothing counts as nothing, and asks for no decimals.
      const double places = std::pow(10.0, precision);
      for (double& value : cells(values)) value = std::round(value * places) / places;
      together = digits_for(values, precision);
    }
    std::vector<std::string> written;
    for (const double value : cells(values)) {
      std::string text;
      together.append(text, value);
      const bool alone = spacing == Spacing::logarithmic;
      written.push_back(
          style_.signs(alone ? written_number(value, {.precision = precision}) : std::move(text)));
    }
    return written;
  }

  // Numbers at the top, in the middle and at the bottom.
  void make_labels() {
    const std::vector<std::string> written = numerals(y_, plot_.y_spacing, {1.0, 0.5, 0.0});
    for (std::size_t i = 0; i < written.size(); ++i) {
      labels_[i * (height / 2)] = written[i];
      label_width_ = std::max(label_width_, display_width(written[i]));
    }
    constexpr std::size_t margin = 4, least = 6, most = 72;
    width_ = std::clamp(style_.limit() - std::min(style_.limit(), label_width_ + margin), least, most);
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
    const std::string name = style_.signs(plot_.x_name), margin(label_width_ + 4, ' ');
    const std::vector<std::string> written = numerals(x_, plot_.x_spacing, {0.0, 1.0});
    const std::string left = written.front(), right = x_.is_constant() ? "" : written.back();
    const std::size_t ends = display_width(left) + display_width(right);
    if (ends >= width_) return write_entries({name + ": " + left + " to", right}, style_.limit(), sink_);
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
      entries.push_back(fmt::format("{} {}", mark(s), fitting(plot_.series[s].name, style_.limit() - 4)));
    }
    write_entries(entries, style_.limit(), sink_);
  }

  const Plot& plot_;
  const Style& style_;
  Sink& sink_;
  ValueRange x_, y_;
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
