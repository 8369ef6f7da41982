#include "attention/steps.hpp"

#include <algorithm>
#include <array>

#include "attention/meanings.hpp"
#include "attention/roles.hpp"

namespace attn {
namespace {

constexpr std::array table = {
    Step{"add-positions", "Positional encoding", "add a vector for each position to the embeddings",
         meaning_of_positions, "--positions sinusoidal with --x or --text", Extent::projections,
         is_positioned},
    Step{"project", "Projection", "queries, keys and values from the embeddings", meaning_of_projection,
         "--x with --wq, --wk or --wv", Extent::projections, is_projection, names_of_projections},
    Step{"scores", "Scores", "compare every query with every key", meaning_of_similarity,
         "--q and --k, or --x with --wq and --wk", Extent::weights, is_scores},
    Step{"scale", "Scaling", "divide the scores by √d_k", meaning_of_scaled,
         "--scores with --scale, or --q and --k", Extent::weights, is_scaled},
    Step{"mask",
         "Mask",
         "replace the scores of masked keys by −∞",
         meaning_of_masked,
         "--scores with --mask, --causal or --valid-length, or --q and --k",
         Extent::weights,
         is_masked,
         {},
         heading_of_masked},
    Step{"softmax", "Softmax", "attention weights: each row nonnegative, with sum one", meaning_of_weights,
         "--scores, or --q and --k", Extent::weights, is_weights},
    Step{"weigh", "Weighted sum", "the weighted sum of the values", meaning_of_sum,
         "--weights and --v, or --scores and --v, or --q, --k and --v", Extent::output, is_weighted_sum},
    Step{"heads", "Heads", "split q, k and v into heads; the output of each head", meaning_of_heads,
         "--heads N with N above 1, or try --example animal", Extent::output, is_head},
    Step{"concat", "Concatenation", "concatenate the heads and apply the output projection",
         meaning_of_joined, "--heads N with N above 1, or --wo, or try --example animal", Extent::output,
         is_joined},
    Step{"feed-forward", "Feed-forward layer",
         "two linear layers with ReLU between them, applied to each position separately",
         meaning_of_feed_forward, "--d-ff N for random parameters, or --w1 and --w2", Extent::output,
         is_feed_forward},
    Step{"averaging", "One averaging", "compare stacked layers with a single averaging of the words",
         meaning_of_averaging, "--layers 2 with one head", Extent::output, is_of_averaging},
};

}  // namespace

std::span<const Step> steps() {
  return table;
}

std::string heading_of(const Step& step, const Node& result) {
  return step.heading ? step.heading(result) : std::string(step.title);
}

const Step* step_of(const Node& node) {
  const auto found = std::ranges::find_if(table, [&](const Step& step) { return step.shows(node); });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace attn
