#include <fmt/format.h>

#include <cmath>

#include "attention/identities.hpp"
#include "attention/scale.hpp"
#include "command/errata/errata.hpp"
#include "graph/op/operations.hpp"
#include "page/describe.hpp"
#include "support/number.hpp"

namespace attn {

// Two keys with scores 4 and 0, and others with score 0 that join them one after another.
void show_root_of_length(Page& page, Graph& graph) {
  constexpr std::size_t d_k = 4, lengths[] = {2, 4, 16, 64, 256};
  page.say(text(
      "√d_k keeps scores moderate, whose variance grows with the keys' size. √n has nothing to do with that: "
      "with every key that joins, it changes how the keys that were there compare. Two keys have the scores "
      "4 and 0, d_k is 4, and all further keys have the score 0: how much more weight has the first than the "
      "second?"));
  Matrix ratios = make_matrix({std::size(lengths), 2});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::size(lengths); ++i) {
    labels.push_back(fmt::format("{} keys", lengths[i]));
    const Graph::Scope scope(graph, fmt::format("keys_{}", lengths[i]));
    Matrix cells = make_matrix({1, lengths[i]}, 0.0);
    cells(0, 0) = 4.0;
    const Value scores = graph.input("scores", std::move(cells), axis("queries"), axis("keys"));
    std::size_t column = 0;
    for (const std::string_view scale : {"sqrt-dk", "sqrt-n"}) {
      const std::optional<Scalar> by = divisor(scale, {.d_k = d_k, .n_k = lengths[i]});
      const Value weights =
          name(scale == "sqrt-n" ? "by_sqrt_n" : "by_sqrt_dk", softmax(divide(scores, *by)));
      ratios(i, column++) = weights.matrix()(0, 0) / weights.matrix()(0, 1);
      page.trace.push_back(&weights.node());
    }
  }
  page.say(quantities("ratio of two weights", axis("lengths", std::move(labels)), {"÷ √d_k", "÷ √n"},
                      std::move(ratios)));
  page.say(text("Divided by √d_k it is exp(2) at every length. ", code("--scale sqrt-n"),
                " divides any scores by √n, to compare."));
}

void show_layouts_of_sinusoids(Page& page, Graph& graph) {
  constexpr Shape shape = {4, 6};
  page.say(text(
      "Both have the same columns in another order. A learned projection can undo the order, so that neither "
      "is wrong; but parameters that were learned with one do not fit the other."));
  std::vector<const Node*> positions, dots;
  for (const SinusoidLayout& layout : sinusoid_layouts()) {
    const Graph::Scope scope(graph, layout.name);
    const Value table = name("positions", sinusoid(graph, layout, {shape, axis("places"), axis("features")}));
    positions.push_back(&table.node());
    dots.push_back(&name("dot_products", matmul_transposed(table, table)).node());
  }
  for (const std::vector<const Node*>& nodes : {positions, dots}) {
    add_results(page, nodes);
    page.trace.insert(page.trace.end(), nodes.begin(), nodes.end());
  }
  page.say(
      text(fmt::format("How alike two places are is the same in both: the largest difference between the dot "
                       "products is {}. ",
                       written_difference(largest_difference(dots[0]->matrix(), dots[1]->matrix()))),
           code("attn positions --positions concatenated"), " shows the second in full."));
}

}  // namespace attn
