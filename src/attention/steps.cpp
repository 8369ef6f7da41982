#include "attention/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attention/averaging.hpp"
#include "attention/identities.hpp"
#include "attention/score.hpp"
#include "graph/op/operations.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

bool within_head(const Node& node) {
  return node.scope().find("head.") != std::string_view::npos;
}

bool computed(const Node& node, std::string_view leaf) {
  return node.operation && node.leaf() == leaf && !is_averaging(node);
}

bool is_positioned(const Node& node) {
  return node.leaf() == "positioned" || (computed(node, "positions"));
}

bool is_feed_forward(const Node& node) {
  return computed(node, "inner") || computed(node, "rectified") || computed(node, "feed_forward");
}

bool is_projection(const Node& node) {
  return !within_head(node) && (computed(node, "q") || computed(node, "k") || computed(node, "v"));
}

bool is_head(const Node& node) {
  if (!within_head(node)) return computed(node, "head");
  return computed(node, "q") || computed(node, "k") || computed(node, "v") || computed(node, "output");
}

bool is_joined(const Node& node) {
  return computed(node, "concat") ||
         (computed(node, "output") && !within_head(node) && !is_weighted_sum(node));
}

bool is_scores(const Node& node) {
  return node.operation && is_of_scoring(node.leaf());
}

bool is_of_averaging(const Node& node) {
  return node.operation && is_averaging(node);
}

bool is_scaled(const Node& node) {
  return computed(node, "scaled");
}

bool is_masked(const Node& node) {
  return computed(node, "masked");
}

bool is_weights(const Node& node) {
  return computed(node, "weights");
}

std::string meaning_of_projection(const Node&) {
  return "Learned matrices turn every embedding into other vectors: a query, what the word asks for; a key, "
         "what it can be found by; and a value, what it hands over when it is found.";
}

std::string meaning_of_scaled(const Node& node) {
  if (node.is_alias()) return "Nothing is divided: the scores go on as they are.";
  return "A softmax of large numbers puts nearly all weight on one key, and dot products grow with the "
         "number of terms: dividing the scores keeps them moderate. The usual divisor is √d_k, the root of "
         "the keys' size.";
}

std::string meaning_of_masked(const Node& node) {
  if (node.is_alias()) return "There is no mask: every query may look at every key.";
  if (node.operation->name() == "add") {
    return "The numbers of the mask are added to the scores: −∞ forbids a query to look at a key, and a "
           "negative number makes it look less.";
  }
  const double fill = mask_fill(*node.operation);
  if (std::isfinite(fill)) {
    return fmt::format(
        "Where a query may not look, {} takes the place of the score. Only where it lies far below the "
        "others does the weight there all but vanish.",
        fill);
  }
  return "Where a query may not look, −∞ takes the place of the score, so that the weight there becomes "
         "exactly zero.";
}

std::string meaning_of_weights(const Node&) {
  return "Softmax turns each row of scores into weights between 0 and 1 that sum to one: how much each query "
         "takes from each key.";
}

std::string meaning_of_sum(const Node& node) {
  if (!node.operands.front()->operation) {
    return "Each row is the sum of the value vectors, each multiplied by its weight: an average where the "
           "weights sum to one.";
  }
  return "Each row is the average of the value vectors, every value counted with its weight: what the query "
         "has gathered from the keys that it looks at.";
}

std::string meaning_of_heads(const Node& node) {
  if (!within_head(node)) return "There is one head, which has q, k and v for itself.";
  return "Every head works on its own columns of q, k and v, so that one head can look for one thing while "
         "another looks for something else.";
}

std::string meaning_of_joined(const Node& node) {
  const Node* output = node.graph->find(std::string(node.scope()) + "output");
  const bool projected = output && !output->is_alias();
  const std::string joined = node.is_alias()
                                 ? "The output of the one head stands alone"
                                 : "The heads' outputs stand side by side in one row for each query";
  return joined + (projected ? ", and the output projection turns each row into one vector." : ".");
}

std::string meaning_of_positions(const Node&) {
  return "Attention takes its keys as a set: it does not know which word comes first. A vector for each "
         "place is added to the embeddings, so that the same word is another at another place.";
}

std::string meaning_of_feed_forward(const Node&) {
  return "Attention alone only averages. The feed-forward layer treats every position by itself: a learned "
         "map to d_ff numbers, ReLU, which makes negative numbers 0, and a map back.";
}

std::string meaning_of_averaging(const Node& node) {
  const Graph& graph = *node.graph;
  const std::string outer(node.scope().substr(0, node.scope().find(averaging_scope)));
  const Node* top = nullptr;
  for (const Node& other : graph.nodes()) {
    const bool of_layer = other.scope().starts_with(outer + "layer.");
    if (of_layer && (computed(other, "output") || computed(other, "feed_forward"))) top = &other;
  }
  const double difference =
      largest_difference(top->matrix(), graph.at(outer + std::string(averaging_scope) + ".output").matrix());
  constexpr double rounding = 1e-9;
  return fmt::format(
      "What if the words were mixed once, with the product of the layers' weights, and each went through the "
      "layers' maps by itself? The largest difference from {} is {}: {}.",
      top->name, written_difference(difference),
      difference < rounding ? "layers of attention alone are one averaging again"
                            : "with a nonlinearity between them the layers are more than one averaging");
}

constexpr std::array table = {
    Step{"add-positions", "Positions", "a vector for each place, added to the embeddings",
         meaning_of_positions, "--positions sinusoidal with --x or --text", Extent::projections,
         is_positioned},
    Step{"project", "Project", "queries, keys and values from the embeddings", meaning_of_projection,
         "--x with --wq, --wk or --wv", Extent::projections, is_projection},
    Step{"scores", "Score", "every query against every key", meaning_of_scores,
         "--q and --k, or --x with --wq and --wk", Extent::weights, is_scores},
    Step{"scale", "Scale", "scores divided by √d_k", meaning_of_scaled,
         "--scores with --scale, or --q and --k", Extent::weights, is_scaled},
    Step{"mask", "Mask", "scores of keys that may not be looked at, removed", meaning_of_masked,
         "--scores with --mask, --causal or --valid-length, or --q and --k", Extent::weights, is_masked},
    Step{"softmax", "Softmax", "weights: every row nonnegative, with sum one", meaning_of_weights,
         "--scores, or --q and --k", Extent::weights, is_weights},
    Step{"weigh", "Weighted sum", "the values, averaged with the weights", meaning_of_sum,
         "--weights and --v, or --scores and --v, or --q, --k and --v", Extent::output, is_weighted_sum},
    Step{"heads", "Heads", "the parts of q, k and v, and what each head found", meaning_of_heads,
         "--heads N with N above 1, or try --example animal", Extent::output, is_head},
    Step{"concat", "Concatenate", "the heads side by side, and the output projection", meaning_of_joined,
         "--heads N with N above 1, or --wo, or try --example animal", Extent::output, is_joined},
    Step{"feed-forward", "Feed-forward", "two maps with ReLU between them, for every position alike",
         meaning_of_feed_forward, "--d-ff N to draw its parameters, or --w1 and --w2", Extent::output,
         is_feed_forward},
    Step{"averaging", "One averaging", "what stacked layers would be if they mixed the words once",
         meaning_of_averaging, "--layers 2 with one head", Extent::output, is_of_averaging},
};

}  // namespace

bool is_weighted_sum(const Node& node) {
  return (computed(node, "output") || computed(node, "head")) && node.operands.front()->leaf() == "weights";
}

std::span<const Step> steps() {
  return table;
}

const Step* step_of(const Node& node) {
  const auto found = std::ranges::find_if(table, [&](const Step& step) { return step.shows(node); });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace attn
