#include <fmt/format.h>

#include <cmath>

#include "attention/identities.hpp"
#include "attention/scale.hpp"
#include "command/errata/errata.hpp"
#include "model/layer_cost.hpp"
#include "op/operations.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {

// Two keys with scores 4 and 0, and others with score 0 that join them one after another.
void show_root_of_length(Page& page, Graph& graph) {
  constexpr std::size_t d_k = 4, lengths[] = {2, 4, 16, 64, 256};
  page.say(text(
      "Correct is √d_k, because the variance of dot products grows with the size of the keys. √n depends on "
      "their number: each added key changes the ratio between the weights of the others. In the table, the "
      "scores are 4, then 0 for all further keys, and d_k is 4. It shows weight 1 divided by weight 2."));
  Matrix ratios({std::size(lengths), 2});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::size(lengths); ++i) {
    labels.push_back(fmt::format("{} keys", lengths[i]));
    const Graph::Scope scope(graph, {scope::other, fmt::format("keys_{}", lengths[i])});
    Matrix cells({1, lengths[i]}, 0.0);
    cells(0, 0) = 4.0;
    const Value scores = graph.input(role::scores, std::move(cells), axis("queries"), axis("keys"));
    std::size_t column = 0;
    for (const std::string_view scale : {"sqrt-dk", "sqrt-n"}) {
      const std::optional<Scalar> by = divisor(scale, {.d_k = d_k, .n_k = lengths[i]});
      const Value weights = name(Name(role::weights, scale == "sqrt-n" ? "by_sqrt_n" : "by_sqrt_dk"),
                                 softmax(divide(scores, *by)));
      ratios(i, column++) = weights.matrix()(0, 0) / weights.matrix()(0, 1);
      page.trace.add(weights.node());
    }
  }
  page.say(quantities("ratio of two weights", axis("lengths", std::move(labels)), {"÷ √d_k", "÷ √n"},
                      std::move(ratios)));
  page.say(
      text("With √d_k, the ratio is exp(2) at every length. ", code("--scale sqrt-n"), " divides by √n."));
}

void show_convolution_paths(Page& page, Graph&) {
  constexpr std::size_t k = 3, lengths[] = {5, 9, 27, 81};
  page.say(
      "Both are correct, for different convolutions. Until x_1 and x_n meet in one position, contiguous "
      "windows of k positions need a number of layers that grows like n/k. Dilated windows, whose gaps grow "
      "from layer to layer, need a number that grows like log_k n. Here the layers are built until there is "
      "such a position, with k = 3:");
  Matrix numbers({std::size(lengths), 2});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::size(lengths); ++i) {
    labels.push_back(fmt::format("n = {}", lengths[i]));
    std::size_t column = 0;
    for (const std::string_view name : {"convolution", "dilated"}) {
      const LayerKind& kind = look_up(layer_kinds(), name, "kind of layer");
      numbers(i, column++) = static_cast<double>(search_meeting(kind, lengths[i], k, lengths[i])->layers);
    }
  }
  page.say(quantities("layers until x_1 and x_n meet", axis("lengths", std::move(labels)),
                      {"contiguous", "dilated"}, std::move(numbers)));
}

void show_layouts_of_sinusoids(Page& page, Graph& graph) {
  constexpr Shape shape = {4, 6};
  page.say(
      text("Neither is wrong: both have the same columns in a different order, and a learned projection can "
           "undo the order. But parameters trained with one do not fit the other."));
  std::vector<const Node*> positions, dots;
  for (const SinusoidLayout& layout : sinusoid_layouts()) {
    const Graph::Scope scope(graph, {scope::other, layout.name});
    const Value table =
        name(role::positions, sinusoid(graph, layout, {shape, axis("positions"), axis("features")}));
    positions.push_back(&table.node());
    dots.push_back(&name(role::dot_products, matmul_transposed(table, table)).node());
  }
  for (const std::vector<const Node*>& nodes : {positions, dots}) {
    add_results(page, nodes);
    page.trace.add(nodes);
  }
  page.say(fmt::format("The dot products of positions are the same in both. The largest difference is {}.",
                       written_difference(largest_difference(dots[0]->matrix(), dots[1]->matrix()))));
}

}  // namespace attn
