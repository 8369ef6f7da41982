#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "model/transformer.hpp"
#include "page/page.hpp"

namespace attn {

/// A Transformer as it is usually drawn, found in its graph: boxes with the shapes of their results, residual
/// connections beside them, a frame around one layer with the number of layers, encoder and decoder beside
/// each other. Of the nodes only the given ones are drawn; what comes from others is named.
Diagram model_diagram(const Graph& graph, const std::vector<const Node*>& nodes, const Transformer& model);

}  // namespace attn
