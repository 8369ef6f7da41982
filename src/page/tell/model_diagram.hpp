#pragma once

#include <vector>

#include "core/graph/graph.hpp"
#include "core/model/layers.hpp"
#include "core/model/transformer.hpp"
#include "page/block/page.hpp"

namespace attn {

/// A Transformer as it is usually drawn, found in its graph: boxes with the shapes of their results, residual
/// connections beside them, a frame around one layer with the number of layers, encoder and decoder beside
/// each other. Of the nodes only the given ones are drawn; what comes from others is named.
Diagram model_diagram(const Graph& graph, const std::vector<const Node*>& nodes, const Transformer& model);

/// How far one layer of each kind reaches: self-attention, recurrent and convolution beside each other, each
/// with as many layers as the first and the last of n positions need to meet, and the ways on which they do.
Diagram layers_diagram(std::size_t n, std::size_t k);

}  // namespace attn
