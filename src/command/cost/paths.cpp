#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "command/cost/cost.hpp"
#include "model/layer_cost.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

const LayerKind& kind(std::string_view name) {
  return look_up(layer_kinds(), name, "kind of layer");
}

std::string way(const std::vector<std::string>& places) {
  return fmt::format("{}", fmt::join(places, " → "));
}

void add_example(CostPage& page) {
  constexpr std::size_t n = 5, k = 3;
  const LayerKind& contiguous = kind("convolution");
  const bool one_is_enough = search_meeting(contiguous, n, k, 1).has_value();
  const std::optional<Meeting> found = search_meeting(contiguous, n, k, n);
  if (!found) return;
  page.say(
      fmt::format("x_1 and x_5 under convolutions with kernel 3: with one layer {} position depends on both; "
                  "with {} layers one does, by {} and {}.",
                  one_is_enough ? "a" : "no", found->layers, way(found->from_first), way(found->from_last)));
}

// The number of layers for both kinds of convolution, as found and as the formulas say.
QuantityRows::value_type layers_to_meet(std::size_t n, std::size_t k) {
  std::vector<double> row;
  for (const char* name : {"convolution", "dilated"}) {
    const std::optional<Meeting> meeting = search_meeting(kind(name), n, k, n);
    row.push_back(meeting ? static_cast<double>(meeting->layers) : std::numeric_limits<double>::infinity());
    row.push_back(kind(name).path({n, 1, k}));
  }
  return {fmt::format("n = {}", n), std::move(row)};
}

// A length from where on products of doubles no longer tell it from its neighbours is told roughly.
std::string length(std::size_t n) {
  constexpr std::size_t exact = 1'000'000'000'000;
  return n < exact ? fmt::format("{}", n) : fmt::format("{:.3g}", static_cast<double>(n));
}

}  // namespace

void add_paths(CostPage& page, std::size_t k) {
  page.head(2, "How far apart positions are");
  add_example(page);
  page.say(
      "Why O(n/k) in one place and O(log_k n) in another: a layer of contiguous windows reaches k−1 "
      "positions further, so that x_1 and x_n meet after (n−1)/(k−1) layers, rounded up. Where layer l "
      "leaves gaps of k^(l−1), it reaches k times as far as the layer before it, and log_k n layers are "
      "enough, rounded up. The first is a plain stack of layers, the second a dilated one.");
  const std::size_t kernel = std::clamp<std::size_t>(k, 2, 8);
  page.say(
      fmt::format("Layers until x_1 and x_n meet, kernel {}, found by searching stacks of layers:", kernel));
  QuantityRows rows;
  for (const std::size_t n : std::array<std::size_t, 4>{5, 9, 17, 32})
    rows.push_back(layers_to_meet(n, kernel));
  page.table("meeting", {"contiguous", "(n-1)/(k-1)", "dilated", "log_k n"}, rows);
}

void add_crossover(CostPage& page, LayerSizes sizes) {
  constexpr std::size_t most = 1'000'000'000'000'000'000;
  const LayerKind &attention = kind("self-attention"), &recurrent = kind("recurrent");
  page.head(2, "Where self-attention is cheaper");
  const std::size_t cheaper = cheaper_up_to(attention, recurrent, sizes, most);
  QuantityRows rows;
  for (std::size_t n = std::max<std::size_t>(cheaper, 1); n <= cheaper + 2; ++n) {
    const LayerSizes here{n, sizes.d, sizes.k};
    const double a = attention.multiply_adds(here), r = recurrent.multiply_adds(here);
    rows.emplace_back(fmt::format("n = {}", n), std::vector{a, r, a - r});
  }
  page.say(
      fmt::format("Searching for the n at which self-attention stops being cheaper than a recurrent layer, "
                  "with d = {}, finds n = {}: while the length is below the depth, n²d is less than nd².",
                  sizes.d, cheaper + 1));
  page.table("crossover", {"self-attention", "recurrent", "difference"}, rows);
  const std::size_t than_windows = cheaper_up_to(attention, kind("convolution"), sizes, most);
  page.say(fmt::format(
      "{} Its four projections cost 4nd² more, at every n twice as much as the whole recurrent layer: n²d "
      "leaves them out, because they grow with n no faster than the other layers do.",
      than_windows == 0 ? fmt::format("It is never cheaper than a convolution with kernel {}.", sizes.k)
                        : fmt::format("It is cheaper than a convolution with kernel {} up to n = {}.",
                                      sizes.k, length(than_windows))));
  constexpr LayerSizes image{32 * 32 * 3, 512, 3};
  const double of_attention = attention.multiply_adds(image), of_recurrent = recurrent.multiply_adds(image);
  page.say(fmt::format(
      "An image of 32 × 32 points in 3 colours, taken number by number, has n = 3072: with d = 512 "
      "self-attention takes {} multiply-adds and a recurrent layer {}, {:g} times fewer. "
      "That is why the length of an image is reduced first.",
      with_commas(static_cast<std::uint64_t>(of_attention)),
      with_commas(static_cast<std::uint64_t>(of_recurrent)), of_attention / of_recurrent));
}

}  // namespace attn
