#include <fmt/format.h>

#include <algorithm>

#include "command/cost/cost.hpp"
#include "model/layer_cost.hpp"

namespace attn {
void add_heads(CostPage& page) {
  constexpr std::size_t n = 8, d_model = 512, heads = 8;
  page.head(1, "Eight heads against one");
  page.say(fmt::format(
      "Self-attention with w_q, w_k, w_v and w_o on {} words of {} numbers, as eight heads of 64 and as one "
      "of 512. Heads share the products out and add none: 4nd² + 2n²d either way. What is done to the scores "
      "is done eight times, for every head has its own, and q, k and v are cut into parts: cell operations, "
      "few beside the multiply-adds.",
      n, d_model));
  page.table("heads", work_columns,
             {{"8 heads of 64", numbers(counted_heads(heads, n, d_model))},
              {"1 head of 512", numbers(counted_heads(1, n, d_model))}});
}

void add_scores(CostPage& page, LayerSizes sizes) {
  constexpr std::size_t most_queries = 64, most_numbers = 64;
  const std::size_t n = std::min(sizes.n, most_queries), d = std::min(sizes.d, most_numbers);
  page.head(1, "Additive against dot product");
  page.say(fmt::format(
      "The scores of {0} queries and {0} keys of {1} numbers. A dot product takes n²d multiply-adds. "
      "Additive attention takes as many for w_v, and 2nd² for W_q and W_k: alike in theory, and a saving "
      "only where its hidden layer is narrower than d. But it adds every pair and takes the tanh of every "
      "pair's d numbers, 2n²d cell operations, and needs room for them, while the dot products are one "
      "matrix product. --measure shows what that means in seconds.",
      n, d));
  QuantityRows rows;
  for (const ScoringFunction& function : scoring_functions()) {
    rows.emplace_back(function.name, numbers(counted_scores(function, n, d)));
  }
  page.table("scoring", work_columns, rows);
}

}  // namespace attn
