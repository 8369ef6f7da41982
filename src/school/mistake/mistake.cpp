#include "school/mistake/mistake.hpp"

#include <algorithm>

namespace attn {

std::span<const Mistake> mistakes() {
  static const std::vector<Mistake> all = [] {
    // Those that are made most often come first: where several fit, they are told in this order.
    std::vector<Mistake> rows;
    for (const auto& of_subject :
         {mistakes_of_softmax, mistakes_of_scores, mistakes_of_masks, mistakes_of_values, mistakes_of_heads,
          mistakes_of_sides, mistakes_of_norms, mistakes_of_residuals, mistakes_of_embeddings, mistakes_of_positions,
          mistakes_of_rotary_positions, mistakes_of_feed_forward, mistakes_of_maps, mistakes_of_recurrence,
          mistakes_of_losses, mistakes_of_gradients, mistakes_of_kernels}) {
      const std::span<const Mistake> some = of_subject();
      rows.insert(rows.end(), some.begin(), some.end());
    }
    return rows;
  }();
  return all;
}

std::vector<PossibleMistake> possible_mistakes(const Graph& graph) {
  std::vector<PossibleMistake> possible;
  for (const Mistake& mistake : mistakes()) {
    const auto first = std::ranges::find_if(graph.nodes(), mistake.where);
    if (first != graph.nodes().end()) possible.push_back({&mistake, &*first});
  }
  return possible;
}

}  // namespace attn
