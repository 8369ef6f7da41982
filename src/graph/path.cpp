#include "graph/path.hpp"

#include <algorithm>

namespace attn {

// A node comes after its operands in a graph, so one pass in that order visits every node when the shortest
// ways to its operands are known.
ShortestPaths::ShortestPaths(const Graph& graph, const Node& from,
                             const std::function<bool(const Node&)>& counts) {
  steps_[&from] = {0, nullptr};
  for (const Node& node : graph.nodes()) {
    const Node* nearest = nullptr;
    for (const Node* operand : node.operands) {
      const auto found = steps_.find(operand);
      if (found == steps_.end()) continue;
      if (!nearest || found->second.length < steps_[nearest].length) nearest = operand;
    }
    if (nearest) steps_[&node] = {steps_[nearest].length + (counts(node) ? 1 : 0), nearest};
  }
}

std::optional<std::size_t> ShortestPaths::length(const Node& to) const {
  const auto found = steps_.find(&to);
  if (found == steps_.end()) return std::nullopt;
  return found->second.length;
}

std::vector<const Node*> ShortestPaths::path(const Node& to) const {
  std::vector<const Node*> path;
  for (const Node* node = &to; node; node = steps_.at(node).before) path.push_back(node);
  std::ranges::reverse(path);
  return path;
}

}  // namespace attn
