#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// The shortest ways from one node to all that depends on it, found by searching the graph: only the nodes
/// that `counts` chooses make a way longer.
class ShortestPaths {
 public:
  ShortestPaths(const Graph& graph, const Node& from, const std::function<bool(const Node&)>& counts);

  /// How many counted nodes lie on the way, `to` among them; nothing where `to` does not depend on the start.
  std::optional<std::size_t> length(const Node& to) const;
  /// The nodes from the start to `to`, which depends on it.
  std::vector<const Node*> path(const Node& to) const;

 private:
  struct Step {
    std::size_t length;
    const Node* before;  // null: the start
  };
  std::map<const Node*, Step> steps_;
};

}  // namespace attn
