#include <fmt/format.h>

#include <algorithm>

#include "command/cost/cost.hpp"
#include "command/cost/timing.hpp"
#include "graph/plan.hpp"
#include "model/layer_cost.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const LayerKind& kind(std::string_view name) {
  return look_up(layer_kinds(), name, "kind of layer");
}

// Of one matrix with a number for each pair of positions.
double bytes_of_weights(std::size_t n) {
  return static_cast<double>(bytes_of({n, n}));
}

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

void add_long_sequences(QuantityPage& page, std::size_t d) {
  page.head(2, "Long sequences");
  page.say(fmt::format(
      "One layer with d = {}, by formula: the multiply-adds of self-attention, 2n²d, and of a recurrent "
      "layer, "
      "2nd²; how many times as many the first are, n/d; and the bytes of one n × n matrix of attention "
      "weights.",
      d));
  QuantityRows rows;
  for (const std::size_t n : {std::size_t{1024}, std::size_t{4096}, std::size_t{16384}, std::size_t{65536}}) {
    const LayerSizes sizes{n, d, 1};
    const double a = kind("self-attention").multiply_adds(sizes), r = kind("recurrent").multiply_adds(sizes);
    rows.emplace_back(fmt::format("n = {}", n), std::vector{a, r, a / r, bytes_of_weights(n)});
  }
  page.table("long", {"self-attention", "recurrent", "times", "bytes"}, rows);
  page.say(
      "Four times as many positions take 16 times as many multiply-adds and bytes in self-attention, and "
      "four "
      "times as many multiply-adds in a recurrent layer. This is why self-attention becomes too slow for "
      "very "
      "long sequences. The matrix need not be in memory as a whole: a few of its rows at a time are enough, "
      "and this program computes large ones so. The multiply-adds stay the same.");
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
    const Timed attention = timed(kind("self-attention"), {n, d, 1}),
                recurrent = timed(kind("recurrent"), {n, d, 1});
    const double before = rows.empty() ? attention.seconds : plot.series[0].y.back();
    rows.emplace_back(fmt::format("n = {}", n),
                      std::vector{1e3 * attention.seconds, attention.seconds / before,
                                  1e3 * recurrent.seconds, bytes_of_weights(n), attention.peak_bytes});
    const double x = static_cast<double>(n);
    plot.series[0].x.push_back(x);
    plot.series[0].y.push_back(attention.seconds);
    plot.series[1].x.push_back(x);
    plot.series[1].y.push_back(recurrent.seconds);
  }
  page.head(2, "Long sequences, measured");
  page.say(fmt::format(
      "Self-attention and a recurrent layer with d = {}, for long sequences. \"growth\" is the time of "
      "self-attention divided by that of the row above. \"weights\" has the bytes of one n × n matrix, and "
      "\"peak\" the bytes that all matrices take at the same time: large matrices are not kept as a whole.",
      d));
  page.say(std::move(plot));
  page.table("measured_long", {"attention ms", "growth", "recurrent ms", "weights", "peak"}, rows);
}

}  // namespace attn
