#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/cost/cost.hpp"
#include "command/cost/timing.hpp"
#include "model/layer_cost.hpp"

namespace attn {
namespace {

double seconds_to_compute(const Value& result) {
  return seconds_of([&] { result.matrix(); });
}

double score_seconds(const ScoringFunction& function, std::size_t n, std::size_t d) {
  Graph graph(keep_nothing());
  return seconds_to_compute(scaled_scores(function, score_inputs(graph, function, n, d)));
}

std::vector<double> row_of(double n, double multiply_adds, double seconds) {
  return {n, multiply_adds, 1e3 * seconds, 1e9 * seconds / multiply_adds};
}

const std::vector<std::string> columns = {"n", "multiply-adds", "milliseconds", "ns each"};

Plot plot_of(std::string title) {
  return {.title = std::move(title),
          .x_name = "n",
          .series = {},
          .x_spacing = Spacing::logarithmic,
          .y_spacing = Spacing::logarithmic};
}

// The rest would hide behind these: projections add products of a known number to self-attention, and a
// dilated convolution is one with other neighbors.
bool is_plotted(std::string_view name) {
  constexpr std::array<std::string_view, 6> plotted = {"self-attention",  "recurrent",  "convolution",
                                                       "fully connected", "scaled-dot", "additive"};
  return std::ranges::find(plotted, name) != plotted.end();
}

void measure_layers(QuantityPage& page) {
  constexpr std::size_t d = 32, k = 3, least = 16, most = 1024;
  constexpr double most_products = 1e8;            // of one run
  constexpr std::size_t most_cells = 2048 * 2048;  // of a matrix
  Plot plot = plot_of(fmt::format("seconds of one layer, d = {}, k = {}", d, k));
  QuantityRows rows;
  for (const LayerKind& kind : layer_kinds()) {
    Series series{std::string(kind.name), {}, {}};
    for (std::size_t n = least; n <= most; n *= 2) {
      const LayerSizes sizes{n, d, k};
      const std::vector<Shape> shapes = kind.parameters(sizes);
      const bool fits = std::ranges::all_of(shapes, [](Shape shape) { return shape.cells() <= most_cells; });
      if (!fits || kind.multiply_adds(sizes) > most_products) break;
      series.x.push_back(static_cast<double>(n));
      series.y.push_back(median_seconds([&] { return layer_seconds(kind, sizes); }));
    }
    const LayerSizes largest{static_cast<std::size_t>(series.x.back()), d, k};
    rows.emplace_back(kind.name, row_of(series.x.back(), kind.multiply_adds(largest), series.y.back()));
    if (is_plotted(series.name)) plot.series.push_back(std::move(series));
  }
  page.say(
      fmt::format("The time of one layer of each kind, with n = {} to {} positions of size d = {}: the "
                  "median of five runs on one processor. A kind that becomes too large stops at a smaller n. "
                  "The table shows the largest n of each, and the nanoseconds per multiply-add.",
                  least, most, d));
  page.say(std::move(plot));
  page.table("measured_layers", columns, rows);
}

void measure_scores(QuantityPage& page) {
  constexpr std::size_t d = 64, least = 16, most = 256;
  Plot plot = plot_of(fmt::format("seconds of the scores, d = {}", d));
  QuantityRows rows;
  for (const ScoringFunction& function : scoring_functions()) {
    Series series{std::string(function.name), {}, {}};
    for (std::size_t n = least; n <= most; n *= 2) {
      series.x.push_back(static_cast<double>(n));
      series.y.push_back(median_seconds([&] { return score_seconds(function, n, d); }));
    }
    const Work work = counted_scores(function, most, d);
    rows.emplace_back(function.name,
                      row_of(series.x.back(), static_cast<double>(work.cost.multiply_adds), series.y.back()));
    if (is_plotted(series.name)) plot.series.push_back(std::move(series));
  }
  page.say(fmt::format(
      "The same for the scores of n = {} to {} queries and as many keys of size d = {}:", least, most, d));
  page.say(std::move(plot));
  page.table("measured_scores", columns, rows);
}

}  // namespace

double layer_seconds(const LayerKind& kind, LayerSizes sizes) {
  Graph graph(keep_nothing());
  const Value x = layer_input(graph, sizes);
  return seconds_to_compute(kind.whole(x, make_layer(graph, kind, sizes)));
}

void add_measurements(QuantityPage& page) {
  page.head(1, "Measured on this machine");
  measure_layers(page);
  measure_scores(page);
  measure_long_sequences(page);
}

}  // namespace attn
