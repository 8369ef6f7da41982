#include "attention/roles.hpp"

#include "attention/averaging.hpp"
#include "attention/score.hpp"

namespace attn {

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

bool is_weighted_sum(const Node& node) {
  return (computed(node, "output") || computed(node, "head")) && node.operands.front()->leaf() == "weights";
}

}  // namespace attn
