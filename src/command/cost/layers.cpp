#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "command/cost/cost.hpp"
#include "model/layer_cost.hpp"

namespace attn {
namespace {

std::string written(const Growth& growth) {
  if (growth.complexity.empty()) return "not in it";
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

QuantityRows by_formula(LayerSizes sizes) {
  QuantityRows rows;
  for (const LayerKind& row : layer_kinds()) {
    rows.emplace_back(row.name,
                      std::vector{row.multiply_adds(sizes), row.sequential(sizes), row.path(sizes)});
  }
  return rows;
}

QuantityRows by_counting(LayerSizes sizes) {
  QuantityRows rows;
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
  page.say(
      "Sequential are the operations of one layer that wait for each other: self-attention has the same four "
      "at every length (scores, scaling, softmax, sum), a recurrent layer three at every position. The path "
      "is how many positions lie on the longer of the shortest ways from x_1 and from x_n to the position "
      "where they meet, in as many layers as that takes.");
  const LayerSizes small = buildable(sizes);
  const QuantityRows found = by_counting(small);
  page.say(fmt::format(
      "Built from operations, counted and searched, at {}; {}:", at(small),
      found == by_formula(small) ? "it is all as the formulas say" : "it is not as the formulas say"));
  page.table("counted", columns, found);
  if (sizes.k == 1 && sizes.n > 1) {
    page.say("A kernel of 1 sees its own position only: no number of layers brings x_1 and x_n together.");
  }
}

}  // namespace

void add_layers(CostPage& page, LayerSizes sizes) {
  page.head(1, "Self-attention, recurrent, convolutional and fully connected layers");
  add_formulas(page);
  add_counts(page, sizes);
}

}  // namespace attn
