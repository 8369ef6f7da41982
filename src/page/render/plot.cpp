#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/render/derivation_steps.hpp"
#include "page/render/drawing.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// A point needs a place on both axes.
class PlotLayout {
 public:
  PlotLayout(const Plot& plot, const Style& style, const Metrics& metrics)
      : plot_(plot), style_(style), metrics_(metrics), x_(plot.x_spacing), y_(plot.y_spacing) {
    for (const Series& series : plot.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        if (!is_drawn(series, i)) continue;
        x_.include(series.x[i]);
        y_.include(series.y[i]);
      }
    }
  }

  Drawing drawn() && {
    drawing_.caption = plot_.title;
    if (x_.is_empty()) {
      drawing_.labels.push_back({{0, 0}, "no values to plot"});
      return std::move(drawing_);
    }
    add_heights();
    add_curves();
    add_range();
    std::vector<Drawing::Entry> names;
    for (std::size_t s = 0; s < plot_.series.size(); ++s)
      names.push_back({fitting(plot_.series[s].name, style_.limit() - 4), s});
    drawing_.legends.push_back(std::move(names));
    return std::move(drawing_);
  }

 private:
  bool is_drawn(const Series& series, std::size_t i) const { return x_.holds(series.x[i]) && y_.holds(series.y[i]); }
  std::size_t width_of(std::string_view text) const { return display_width(text) * metrics_.column; }
  std::string fitting(std::string_view text, std::size_t columns) const {
    return shortened(style_.signs(text), columns, style_.unicode ? "…" : "~");
  }

  // Numbers along one axis: with the same decimals, or each by itself where their sizes differ by powers.
  std::vector<std::string> numerals(const ValueRange& range, Spacing spacing, const std::vector<double>& shares) const {
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
      written.push_back(style_.signs(alone ? written_number(value, {.precision = precision}) : std::move(text)));
    }
    return written;
  }

  // The vertical axis, with numbers at the top, in the middle and at the bottom.
  void add_heights() {
    const std::vector<std::string> written = numerals(y_, plot_.y_spacing, {1.0, 0.5, 0.0});
    std::size_t widest = 0;
    for (const std::string& number : written) widest = std::max(widest, width_of(number));
    std::vector<std::size_t> ticks;
    for (std::size_t i = 0; i < written.size(); ++i) {
      ticks.push_back(i * (metrics_.plot / 2) * metrics_.line);
      drawing_.labels.push_back({{widest - width_of(written[i]), ticks.back()}, written[i]});
    }
    const std::size_t margin = 2 * metrics_.column, least = 6 * metrics_.column,
                      most = metrics_.across * metrics_.column;
    width_ = std::clamp(metrics_.limit - std::min(metrics_.limit, widest + margin), least, most);
    begin_ = widest + margin;
    const std::size_t axis = begin_ - metrics_.column;
    drawing_.axes = {{axis, 0}, {axis + width_, metrics_.plot * metrics_.line}, std::move(ticks)};
  }

  void add_curves() {
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      const Series& series = plot_.series[s];
      Drawing::Curve& curve = drawing_.curves.emplace_back();
      curve.is_line = series.is_line;
      curve.series = s;
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        if (!is_drawn(series, i)) continue;
        const auto [across, down] = curve.points.emplace_back(x_.share(series.x[i]), 1.0 - y_.share(series.y[i]));
        const double x = across * static_cast<double>(width_ - metrics_.column);
        const double y = down * static_cast<double>((metrics_.plot - 1) * metrics_.line);
        drawing_.marks.push_back(
            {{begin_ + static_cast<std::size_t>(std::lround(x)), static_cast<std::size_t>(std::lround(y))}, s});
      }
    }
  }

  // What the horizontal axis is called and where it ends, below it as far as there is room.
  void add_range() {
    const std::string name = style_.signs(plot_.x_name);
    const std::vector<std::string> written = numerals(x_, plot_.x_spacing, {0.0, 1.0});
    const std::string left = written.front(), right = x_.is_constant() ? "" : written.back();
    const std::size_t ends = width_of(left) + width_of(right);
    if (ends >= width_) {
      drawing_.legends.push_back({{name + ": " + left + " to"}, {right}});
      return;
    }
    const std::size_t y = (metrics_.plot + 1) * metrics_.line;
    const bool fits = ends + width_of(name) + 2 * metrics_.column <= width_;
    const std::size_t blank = width_ - ends - (fits ? width_of(name) : 0);
    drawing_.labels.push_back({{begin_, y}, left});
    if (fits) {
      drawing_.labels.push_back({{begin_ + width_of(left) + blank / 2, y}, name});
    } else {
      drawing_.labels.push_back({{begin_, y + metrics_.line}, fitting(plot_.x_name, width_ / metrics_.column)});
    }
    drawing_.labels.push_back({{begin_ + width_ - width_of(right), y}, right});
  }

  const Plot& plot_;
  const Style& style_;
  const Metrics& metrics_;
  ValueRange x_, y_;
  std::size_t begin_ = 0;  // where the curves begin
  std::size_t width_ = 0;  // of the curves
  Drawing drawing_;
};

}  // namespace

Drawing lay_out(const Plot& plot, const Style& style, const Metrics& metrics) {
  return PlotLayout(plot, style, metrics).drawn();
}

bool ValueRange::holds(double value) const {
  return std::isfinite(value) && (spacing_ == Spacing::even || value > 0.0);
}

void ValueRange::include(double value) {
  if (!holds(value)) return;
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
}

// Halves, because the distance between two doubles may be beyond double precision.
double ValueRange::share(double value) const {
  const double from = place(least_) / 2.0, to = place(most_) / 2.0;
  return to > from ? std::clamp((place(value) / 2.0 - from) / (to - from), 0.0, 1.0) : 0.5;
}

double ValueRange::at(double share) const {
  const double value = (1.0 - share) * place(least_) + share * place(most_);
  if (spacing_ == Spacing::logarithmic) return std::pow(10.0, value);
  constexpr double nothing = 1e-4;
  const double largest = std::max(std::fabs(least_), std::fabs(most_));
  return std::fabs(value) < nothing * largest ? 0.0 : value;
}

double ValueRange::place(double value) const { return spacing_ == Spacing::even ? value : std::log10(value); }

}  // namespace attn
