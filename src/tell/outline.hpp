#pragma once

#include "graph/graph.hpp"
#include "page/page.hpp"

namespace attn {

/// The tree of some nodes of a graph with shapes and multiplications, and no numbers. Layers and heads that
/// are like the one before are told in one line.
void add_outline(Page& page, const Graph& graph, const std::vector<const Node*>& nodes);

}  // namespace attn
