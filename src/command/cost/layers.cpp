#include <fmt/format.h>
#include <fmt/ranges.h>

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

// The kinds of layers whose growth a text states, and where.
std::string sources() {
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> by_source;
  for (const LayerKind& row : layer_kinds()) {
    if (row.growth.source.empty()) continue;
    auto found = std::ranges::find(by_source, row.growth.source, [](const auto& item) { return item.first; });
    if (found == by_source.end()) found = by_source.insert(by_source.end(), {row.growth.source, {}});
    found->second.push_back(row.name);
  }
  std::string sentence;
  for (const auto& [source, names] : by_source) {
    sentence += fmt::format("{}{} ({})", sentence.empty() ? "" : " and in ", source, fmt::join(names, ", "));
  }
  return sentence;
}

void add_formulas(QuantityPage& page) {
  page.say(
      "Each line: the kind of layer, its exact number of multiply-adds, and how complexity, sequential "
      "operations and maximum path length grow with n, d and k. The last column has the same in the letters "
      "T, D and K of Lin et al. 2022, for the layers of their table.");
  Listing formulas{{"layer", "multiply-adds", "growth in n, d, k", "growth in T, D, K"}, {}};
  Listing meanings{{"layer", "what it is"}, {}};
  for (const LayerKind& row : layer_kinds()) {
    formulas.rows.push_back(
        {std::string(row.name), std::string(row.formula), written(row.growth), written(row.survey)});
    meanings.rows.push_back({std::string(row.name), std::string(row.summary)});
  }
  page.say(std::move(formulas));
  page.say(fmt::format(
      "The growth in n, d and k is stated in {}. For the others it follows from the exact number.",
      sources()));
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

void add_counts(QuantityPage& page, LayerSizes sizes) {
  const std::vector<std::string> columns = {"multiply-adds", "sequential", "path"};
  page.say(fmt::format("By formula, at {}:", at(sizes)));
  page.table("layers", columns, by_formula(sizes));
  page.say(Listing{
      {"column", "what it counts"},
      {{"multiply-adds", "multiplications, each with an addition, of one layer"},
       {"sequential",
        "operations of one layer that must wait for one another. Self-attention has four at every length "
        "(scores, scaling, softmax, weighted sum), a recurrent layer three for each position"},
       {"path",
        "maximum path length: take the first position, in any layer, that depends on both x_1 and x_n, and "
        "the shortest way to it from each. The path is the longer of the two, counted in positions"}}});
  const LayerSizes small = buildable(sizes);
  const QuantityRows found = by_counting(small);
  page.say(fmt::format("Built from operations at {}, counted and searched. {}:", at(small),
                       found == by_formula(small) ? "The counts agree with the formulas"
                                                  : "The counts differ from the formulas"));
  page.table("counted", columns, found);
  if (sizes.k == 1 && sizes.n > 1) {
    page.say(
        "A kernel of 1 sees only its own position: x_1 and x_n never meet, whatever the number of layers.");
  }
}

}  // namespace

void add_layers(QuantityPage& page, LayerSizes sizes) {
  page.head(1, "Self-attention, recurrent, convolutional and fully connected layers");
  add_counts(page, sizes);
  add_formulas(page);
}

}  // namespace attn
