#include "tell/attentions.hpp"

#include <algorithm>

#include "op/operations.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// All steps of a recurrent decoder at once.
bool is_alignment_of_steps(const Node& node) {
  return node.is(role::alignment) && node.operation && !is_transpose(*node.operation);
}

}  // namespace

std::vector<const Node*> attention_weights(const Graph& graph, const std::optional<std::string>& pattern) {
  const bool has_steps = std::ranges::any_of(graph.nodes(), is_alignment_of_steps);
  std::vector<const Node*> found;
  for (const Node* node : pattern ? graph.matching(*pattern) : graph.named()) {
    const bool is_shown = has_steps ? is_alignment_of_steps(*node) : node->is(role::weights);
    if (is_shown) found.push_back(node);
  }
  if (!found.empty()) return found;
  if (pattern) fail("--only {}: none of these matrices are attention weights. Leave out --only", *pattern);
  fail("there are no attention weights here: give ‹q› and ‹k›, or ‹scores›, or ‹weights›");
}

std::vector<Attention> attentions_of(const Graph& graph, const std::optional<std::string>& pattern) {
  std::vector<Attention> attentions;
  for (const Node* node : attention_weights(graph, pattern)) {
    const NamedScope* const place = around(node->place, scope::head);
    if (attentions.empty() || attentions.back().place != place) attentions.push_back({place, {}});
    attentions.back().heads.push_back(node);
  }
  return attentions;
}

std::string head_title(const Node& weights) {
  const NamedScope* const head = weights.within(scope::head);
  return head && head->number ? "head " + std::to_string(*head->number) : std::string(weights.leaf());
}

std::shared_ptr<const Matrix> masks_behind(const Node& weights) {
  const Node* const scores = scores_behind(weights);
  return scores ? scores->cells() : nullptr;
}

bool is_of_same_words(const Node& weights) {
  const Frame& frame = weights.frame;
  const bool is_cross = weights.is(role::alignment) || weights.within(scope::cross_attention) ||
                        weights.graph->find(around(weights.place, scope::head), role::memory);
  if (is_cross || frame.shape.rows != frame.shape.columns) return false;
  if (!frame.rows.labels || !frame.columns.labels) return !frame.rows.labels && !frame.columns.labels;
  return *frame.rows.labels == *frame.columns.labels;
}

}  // namespace attn
