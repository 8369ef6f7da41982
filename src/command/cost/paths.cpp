#include "command/cost/cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "command/computed_problem.hpp"
#include "core/model/layer_cost.hpp"
#include "core/support/number.hpp"

namespace attn {

namespace {

std::string way(const std::vector<std::string>& places) { return fmt::format("{}", fmt::join(places, " → ")); }

void add_example(QuantityPage& page) {
  constexpr std::size_t n = 5, k = 3;
  const LayerKind& contiguous = layer_kind("convolution");
  const bool one_is_enough = search_meeting(contiguous, n, k, 1).has_value();
  const std::optional<Meeting> found = search_meeting(contiguous, n, k, n);
  if (!found) return;
  page.say(
      fmt::format("An example with n = {} and kernel {}: with one layer, {} position depends on both x_1 and x_{}. "
                  "With {} layers one does: {}, and {}.",
                  n, k, one_is_enough ? "a" : "no", n, found->layers, way(found->from_first), way(found->from_last)));
}

// The number of layers for both kinds of convolution, as found and as the formulas say.
QuantityRows::value_type layers_to_meet(std::size_t n, std::size_t k) {
  std::vector<double> row;
  for (const char* name : {"convolution", "dilated"}) {
    const std::optional<Meeting> meeting = search_meeting(layer_kind(name), n, k, n);
    row.push_back(meeting ? static_cast<double>(meeting->layers) : std::numeric_limits<double>::infinity());
    row.push_back(layer_kind(name).path({n, 1, k}));
  }
  return {fmt::format("n = {}", n), std::move(row)};
}

// A length so large that products of doubles no longer differ from those of its neighbors is given roughly.
std::string written_length(std::size_t n) {
  constexpr std::size_t exact = 1'000'000'000'000;
  return n < exact ? fmt::format("{}", n) : fmt::format("{:.3g}", static_cast<double>(n));
}

}  // namespace

void add_paths(QuantityPage& page, std::size_t k) {
  page.head(2, "How far apart positions are: path length");
  add_example(page);
  page.head(2, "Layers until the first and the last word meet");
  const std::size_t kernel = std::clamp<std::size_t>(k, 2, 8);
  page.say(fmt::format(
      "The number of layers until x_1 and x_n meet, with kernel {}: found by searching stacks of layers, and by formula (rounded up).{}",
      kernel, kernel == k ? "" : fmt::format(" (The kernel {} is replaced by {}.)", k, kernel)));
  QuantityRows rows;
  for (const std::size_t n : std::array<std::size_t, 4>{5, 9, 17, 32}) rows.push_back(layers_to_meet(n, kernel));
  page.table("meeting", {"contiguous", "(n-1)/(k-1)", "dilated", "log_k n"}, rows);
  page.say(
      "Some texts say O(n/k), others O(log_k n). Both are correct. "
      "Each layer of an ordinary convolution reaches k−1 positions further, so (n−1)/(k−1) layers are needed. "
      "In a dilated convolution the positions of a window are k^(l−1) apart in layer l. "
      "Each layer reaches k times as far as the layer before, so log_k n layers are enough.");
}

void add_crossover(QuantityPage& page, LayerSizes sizes) {
  constexpr std::size_t most = 1'000'000'000'000'000'000;
  const LayerKind &attention = layer_kind("self-attention"), &recurrent = layer_kind("recurrent");
  page.head(2, "Where self-attention is cheaper");
  const std::size_t cheaper = cheaper_up_to(attention, recurrent, sizes, most);
  QuantityRows rows;
  for (std::size_t n = std::max<std::size_t>(cheaper, 1); n <= cheaper + 2; ++n) {
    const LayerSizes here{n, sizes.d, sizes.k};
    const double a = attention.multiply_adds(here), r = recurrent.multiply_adds(here);
    rows.emplace_back(fmt::format("n = {}", n), std::vector{a, r, a - r});
  }
  page.say(fmt::format(
      "The first n at which self-attention is not cheaper than a recurrent layer, found by a search with d = {}: n = {}.",
      sizes.d, cheaper + 1));
  page.table("crossover", {"self-attention", "recurrent", "difference"}, rows);
  const std::size_t than_windows = cheaper_up_to(attention, layer_kind("convolution"), sizes, most);
  page.say(fmt::format(
      "Without its projections, self-attention takes 2n²d multiply-adds and a recurrent layer 2nd². So it is cheaper while n < d. "
      "{} The four projections add 4nd², twice the cost of the recurrent layer at every n. "
      "O(n²d) leaves them out.",
      than_windows == 0 ? fmt::format("It is never cheaper than a convolution with kernel {}.", sizes.k)
                        : fmt::format("It is cheaper than a convolution with kernel {} up to n = {}.", sizes.k,
                                      written_length(than_windows))));
  constexpr LayerSizes image{32 * 32 * 3, 512, 3};
  const double of_attention = attention.multiply_adds(image), of_recurrent = recurrent.multiply_adds(image);
  page.head(2, "An image as a sequence");
  page.say(
      fmt::format("An image of 32 × 32 pixels with 3 colors, read as a sequence of single values, has n = 3072. "
                  "With d = 512, self-attention takes {} multiply-adds, {:g} times those of a recurrent layer ({}). "
                  "This is why images are first turned into shorter sequences.",
                  with_commas(static_cast<std::uint64_t>(of_attention)), of_attention / of_recurrent,
                  with_commas(static_cast<std::uint64_t>(of_recurrent))));
}

}  // namespace attn
