#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "command/cost/cost.hpp"
#include "core/graph/plan.hpp"
#include "core/model/layer_cost.hpp"
#include "core/model/layers.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- timing

// The median of several runs: one that was interrupted does not count. `run` returns its seconds.
template <class Run>
double median_seconds(const Run& run) {
  constexpr std::size_t repetitions = 5;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repetitions; ++i) seconds.push_back(run());
  std::ranges::sort(seconds);
  return seconds[repetitions / 2];
}

// How long something takes.
template <class Action>
double seconds_of(const Action& action) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_to_compute(const Value& result) {
  return seconds_of([&] { result.matrix(); });
}

// How long one layer takes, of which only the result is kept.
double layer_seconds(const LayerKind& kind, LayerSizes sizes) {
  Graph graph(keep_nothing());
  const Value x = layer_input(graph, sizes);
  return seconds_to_compute(kind.whole(x, make_layer(graph, kind, sizes)));
}

// --- measure

double score_seconds(const ScoringFunction& function, std::size_t n, std::size_t d) {
  Graph graph(keep_nothing());
  return seconds_to_compute(scaled_scores(function, score_inputs(graph, function, n, d)));
}

std::vector<double> row_of_times(double n, double multiply_adds, double seconds) {
  return {n, multiply_adds, 1e3 * seconds, 1e9 * seconds / multiply_adds};
}

const std::vector<std::string> measured_columns = {"n", "multiply-adds", "milliseconds", "ns each"};

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
    rows.emplace_back(kind.name, row_of_times(series.x.back(), kind.multiply_adds(largest), series.y.back()));
    if (is_plotted(series.name)) plot.series.push_back(std::move(series));
  }
  page.say(fmt::format(
      "The time of one layer of each kind, with n = {} to {} positions of size d = {}: the median of five runs on one processor. "
      "A kind that becomes too large stops at a smaller n. "
      "The table shows the largest n of each, and the nanoseconds per multiply-add.",
      least, most, d));
  page.say(std::move(plot));
  page.table("measured_layers", measured_columns, rows);
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
    const Work work = scores_work(function, most, d);
    rows.emplace_back(function.name,
                      row_of_times(series.x.back(), static_cast<double>(work.cost.multiply_adds), series.y.back()));
    if (is_plotted(series.name)) plot.series.push_back(std::move(series));
  }
  page.say(
      fmt::format("The same for the scores of n = {} to {} queries and as many keys of size d = {}:", least, most, d));
  page.say(std::move(plot));
  page.table("measured_scores", measured_columns, rows);
}

// --- long sequences

// Of one matrix with a number for each pair of positions.
double bytes_of_weights(std::size_t n) { return static_cast<double>(bytes_of({n, n})); }

struct Timed {
  double seconds;
  double peak_bytes;
};

// One layer, of which nothing but the result is kept.
Timed timed(const LayerKind& kind, LayerSizes sizes) {
  constexpr double long_run = 0.2;  // seconds: such a run is not repeated
  Graph planned(keep_nothing());
  const Value result = kind.whole(layer_input(planned, sizes), make_layer(planned, kind, sizes));
  const double peak = static_cast<double>(plan(planned, {&result.node()}).peak_bytes);
  const double first = layer_seconds(kind, sizes);
  return {first > long_run ? first : median_seconds([&] { return layer_seconds(kind, sizes); }), peak};
}

}  // namespace

// --- measure

void add_measurements(QuantityPage& page) {
  page.head(1, "Measured on this machine");
  measure_layers(page);
  measure_scores(page);
  measure_long_sequences(page);
}

// --- long sequences

void add_long_sequences(QuantityPage& page, std::size_t d) {
  page.head(2, "Long sequences");
  page.say(fmt::format(
      "One layer with d = {}, by formula: the multiply-adds of self-attention, 2n²d, and of a recurrent layer, 2nd²; how many times as many the first are, n/d; and the bytes of one n × n matrix of attention weights.",
      d));
  QuantityRows rows;
  for (const std::size_t n : {std::size_t{1024}, std::size_t{4096}, std::size_t{16384}, std::size_t{65536}}) {
    const LayerSizes sizes{n, d, 1};
    const double a = layer_kind("self-attention").multiply_adds(sizes),
                 r = layer_kind("recurrent").multiply_adds(sizes);
    rows.emplace_back(fmt::format("n = {}", n), std::vector{a, r, a / r, bytes_of_weights(n)});
  }
  page.table("long", {"self-attention", "recurrent", "times", "bytes"}, rows);
  page.say(
      "Four times as many positions take 16 times as many multiply-adds and bytes in self-attention, and four times as many multiply-adds in a recurrent layer. "
      ""
      "The matrix need not be in memory as a whole: a few of its rows at a time are enough, and this program computes large ones in this way. "
      "The multiply-adds stay the same.");
}

void measure_long_sequences(QuantityPage& page) {
  constexpr std::size_t d = 32, least = 512, most = 8192;
  Plot plot{.title = fmt::format("seconds of one layer, d = {}", d),
            .x_name = "n",
            .series = {{"self-attention", {}, {}}, {"recurrent", {}, {}}},
            .x_spacing = Spacing::logarithmic,
            .y_spacing = Spacing::logarithmic};
  QuantityRows rows;
  for (std::size_t n = least; n <= most; n *= 2) {
    const Timed attention = timed(layer_kind("self-attention"), {n, d, 1}),
                recurrent = timed(layer_kind("recurrent"), {n, d, 1});
    const double before = rows.empty() ? attention.seconds : plot.series[0].y.back();
    rows.emplace_back(fmt::format("n = {}", n),
                      std::vector{1e3 * attention.seconds, attention.seconds / before, 1e3 * recurrent.seconds,
                                  bytes_of_weights(n), attention.peak_bytes});
    const double x = static_cast<double>(n);
    plot.series[0].x.push_back(x);
    plot.series[0].y.push_back(attention.seconds);
    plot.series[1].x.push_back(x);
    plot.series[1].y.push_back(recurrent.seconds);
  }
  page.head(2, "Long sequences, measured");
  page.say(fmt::format(
      "Self-attention and a recurrent layer with d = {}, for long sequences. "
      "\"growth\" is the time of self-attention divided by that of the row above. "
      "\"weights\" has the bytes of one n × n matrix, and \"peak\" the bytes that all matrices take at the same time: large matrices are not kept as a whole.",
      d));
  page.say(std::move(plot));
  page.table("measured_long", {"attention ms", "growth", "recurrent ms", "weights", "peak"}, rows);
}

}  // namespace attn
