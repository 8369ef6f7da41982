#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "command/cost.hpp"
#include "model/layer_cost.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

using Rows = std::vector<std::pair<std::string, std::vector<double>>>;

const LayerKind& kind(std::string_view name) {
  return look_up(layer_kinds(), name, "kind of layer");
}

std::string written(const Growth& growth) {
  if (growth.complexity.empty()) return "–";
  return fmt::format("{}, {}, {}", growth.complexity, growth.sequential, growth.path);
}

void add_formulas(CostPage& page) {
  page.say(
      "Each line: the kind of layer; its multiply-adds, exactly; how complexity, sequential operations and "
      "maximum path length grow with n positions of d numbers and a kernel of k (Dive into Deep Learning, "
      "11.6.2); and the same in the letters T, D and K, for what stands in Lin et al. 2022.");
  Listing formulas{{"layer", "multiply-adds", "growth in n, d, k", "growth in T, D, K"}, {}};
  Listing meanings{{"layer", "what it is"}, {}};
  for (const LayerKind& row : layer_kinds()) {
    formulas.rows.push_back(
        {std::string(row.name), std::string(row.formula), written(row.growth), written(row.survey)});
    meanings.rows.push_back({std::string(row.name), std::string(row.summary)});
  }
  page.say(std::move(formulas));
  page.say(std::move(meanings));
}

Rows by_formula(LayerSizes sizes) {
  Rows rows;
  for (const LayerKind& row : layer_kinds()) {
    rows.emplace_back(row.name,
                      std::vector{row.multiply_adds(sizes), row.sequential(sizes), row.path(sizes)});
  }
  return rows;
}

Rows by_counting(LayerSizes sizes) {
  Rows rows;
  for (const LayerKind& row : layer_kinds()) {
    const Work work = counted(row, sizes);
    const std::optional<Meeting> meeting = search_meeting(row, sizes.n, sizes.k, sizes.n);
    const double path =
        meeting ? static_cast<double>(meeting->length) : std::numeric_limits<double>::infinity();
    rows.emplace_back(row.name, std::vector{static_cast<double>(work.cost.multiply_adds),
                                            static_cast<double>(work.sequential), path});
  }
  return rows;
}

// What can be built in no time: the matrix of a fully connected layer has (n·d)² cells.
LayerSizes buildable(LayerSizes sizes) {
  constexpr std::size_t most_positions = 32, most_numbers = 512, few = 8;
  if (sizes.n <= most_positions && sizes.n * sizes.d <= most_numbers && sizes.k <= most_positions)
    return sizes;
  return {std::min(sizes.n, few), std::min(sizes.d, few), std::min(sizes.k, few)};
}

std::string at(LayerSizes sizes) {
  return fmt::format("n = {}, d = {}, k = {}", sizes.n, sizes.d, sizes.k);
}

void add_counts(CostPage& page, LayerSizes sizes) {
  const std::vector<std::string> columns = {"multiply-adds", "sequential", "path"};
  page.say(fmt::format("By formula, at {}:", at(sizes)));
  page.table("layers", columns, by_formula(sizes));
  const LayerSizes small = buildable(sizes);
  const Rows found = by_counting(small);
  page.say(fmt::format(
      "Built, counted, and searched for the shortest ways from x_1 and x_n to a position that depends on "
      "both, at {}: {}.",
      at(small), found == by_formula(small) ? "all as the formulas say" : "not as the formulas say"));
  page.table("counted", columns, found);
  if (sizes.k == 1 && sizes.n > 1)
    page.say("A kernel of 1 sees its own position only: no number of layers brings x_1 and x_n together.");
}

std::string way(const std::vector<std::string>& places) {
  return fmt::format("{}", fmt::join(places, " → "));
}

void add_paths(CostPage& page, LayerSizes sizes) {
  constexpr std::size_t n = 5, k = 3;
  const LayerKind &contiguous = kind("convolution"), &dilated = kind("dilated");
  page.head(2, "How far apart positions are");
  const bool with_one = search_meeting(contiguous, n, k, 1).has_value();
  if (const std::optional<Meeting> found = search_meeting(contiguous, n, k, n)) {
    page.say(fmt::format(
        "x_1 and x_5 under convolutions with kernel 3: with one layer {} position depends on both; with {} "
        "layers one does: {} and {}.",
        with_one ? "a" : "no", found->layers, way(found->from_first), way(found->from_last)));
  }
  page.say(fmt::format(
      "Why O(n/k) here and O(log_k n) there: a layer of contiguous windows reaches k − 1 positions "
      "further, so it takes ⌈(n − 1) / (k − 1)⌉ layers until x_1 and x_n meet; when layer l leaves "
      "gaps of k^(l−1), it reaches k times as far as the layer before, and ⌈log_k n⌉ are enough. At "
      "n = {}, k = {}: {} against {}. A recurrent layer takes n steps, self-attention one.",
      sizes.n, sizes.k, in_words(contiguous.path(sizes)), in_words(dilated.path(sizes))));
}

void add_crossover(CostPage& page, LayerSizes sizes) {
  constexpr std::size_t most = 4'000'000'000;
  const LayerKind &attention = kind("self-attention"), &recurrent = kind("recurrent");
  page.head(2, "Where self-attention is cheaper");
  const auto counts = [&](std::size_t n) {
    const LayerSizes here{n, sizes.d, sizes.k};
    return fmt::format("{} against {}", in_words(attention.multiply_adds(here)),
                       in_words(recurrent.multiply_adds(here)));
  };
  const std::size_t cheaper = cheaper_up_to(attention, recurrent, sizes, most);
  page.say(fmt::format(
      "Searching all n at d = {} for the last at which self-attention takes fewer multiply-adds than a "
      "recurrent layer: n = {}. At n = {} they are equal ({}), and at n = {} it takes more ({}). n = d is "
      "the "
      "border: below it n²d is less than nd².",
      sizes.d, cheaper, cheaper + 1, counts(cheaper + 1), cheaper + 2, counts(cheaper + 2)));
  page.say(fmt::format(
      "Than a convolution with kernel {} it is cheaper up to n = {}. Its four projections cost 4nd² more, at "
      "every n twice as much as the whole recurrent layer: the O leaves them out, because they grow with n "
      "no faster than the others do.",
      sizes.k, cheaper_up_to(attention, kind("convolution"), sizes, most)));
  constexpr LayerSizes image{32 * 32 * 3, 512, 3};
  const double ratio = attention.multiply_adds(image) / recurrent.multiply_adds(image);
  page.say(fmt::format(
      "An image of 32 × 32 points in 3 colours, taken number by number, has n = 3072: with d = 512 "
      "self-attention takes {} multiply-adds and a recurrent layer {}, {:g} times fewer. That is why images "
      "are shortened first, into patches.",
      in_words(attention.multiply_adds(image)), in_words(recurrent.multiply_adds(image)), ratio));
}

}  // namespace

void add_layers(CostPage& page, LayerSizes sizes) {
  page.head(1, "Self-attention, recurrent, convolutional and fully connected layers");
  add_formulas(page);
  add_counts(page, sizes);
  add_paths(page, sizes);
  add_crossover(page, sizes);
}

}  // namespace attn
