#include "attention/steps.hpp"

#include <array>

namespace attn {
namespace {

bool within_head(const Node& node) {
  return node.scope().find("head.") != std::string_view::npos;
}

bool computed(const Node& node, std::string_view leaf) {
  return node.operation && node.leaf() == leaf;
}

bool is_projection(const Node& node) {
  return !within_head(node) && (computed(node, "q") || computed(node, "k") || computed(node, "v"));
}

bool is_weighted_sum(const Node& node) {
  return (computed(node, "output") || computed(node, "head")) && node.operands.front()->leaf() == "weights";
}

bool is_head(const Node& node) {
  if (!within_head(node)) return computed(node, "head");
  return computed(node, "q") || computed(node, "k") || computed(node, "v") || computed(node, "output");
}

bool is_joined(const Node& node) {
  return computed(node, "concat") ||
         (computed(node, "output") && !within_head(node) && !is_weighted_sum(node));
}

constexpr std::array table = {
    Step{"project", "Project", "queries, keys and values from the embeddings",
         "Three learned matrices turn every embedding into three vectors: a query, what the word asks for; a "
         "key, what "
         "it can be found by; and a value, what it hands over when it is found.",
         "--x with --wq, --wk or --wv", is_projection},
    Step{"scores", "Score", "every query against every key",
         "A score is the dot product of a query (row) with a key (column): the better the key fits what the "
         "query asks "
         "for, the larger it is.",
         "--q and --k, or --x with --wq and --wk", [](const Node& node) { return computed(node, "scores"); }},
    Step{"scale", "Scale", "scores divided by √d_k",
         "Dot products of long vectors are large, and a softmax of large numbers puts all weight on one key; "
         "dividing "
         "by the square root of the keys' size keeps them moderate.",
         "--scores with --scale, or --q and --k", [](const Node& node) { return computed(node, "scaled"); }},
    Step{"mask", "Mask", "scores of keys that may not be looked at, removed",
         "Where a query may not look, −∞ takes the place of the score, so that the weight there becomes "
         "exactly zero.",
         "--scores with --mask, --causal or --valid-length, or --q and --k",
         [](const Node& node) { return computed(node, "masked"); }},
    Step{"softmax", "Softmax", "weights: every row nonnegative, with sum one",
         "Softmax turns each row of scores into weights between 0 and 1 that sum to one: how much each query "
         "takes "
         "from each key.",
         "--scores, or --q and --k", [](const Node& node) { return computed(node, "weights"); }},
    Step{"weigh", "Weighted sum", "the values, averaged with the weights",
         "Each row is the average of the value vectors, every value counted with its weight: what the word "
         "has "
         "gathered from the words it attends to.",
         "--weights and --v, or --scores and --v, or --q, --k and --v", is_weighted_sum},
    Step{"heads", "Heads", "the parts of q, k and v, and what each head found",
         "Every head works on its own columns of q, k and v, so that one head can look for one thing while "
         "another "
         "looks for something else.",
         "--heads with --q, --k and --v, or with --x and its parameters", is_head},
    Step{"concat", "Concatenate", "the heads side by side, and the output projection",
         "The heads' outputs stand side by side in one row per word, and the output projection mixes them "
         "into one "
         "vector.",
         "--heads or --wo, with --q, --k and --v, or with --x and its parameters", is_joined},
};

}  // namespace

std::span<const Step> steps() {
  return table;
}

}  // namespace attn
