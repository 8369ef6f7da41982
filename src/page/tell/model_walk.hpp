#pragma once

#include "core/graph/graph.hpp"
#include "core/model/transformer.hpp"
#include "page/block/page.hpp"

namespace attn {

/// Adds nodes of a model of this recipe that was run on these words, part by part: a heading for each scope,
/// what that part does when it comes first, and its formulas and tables.
void add_model_walk(Page& page, const std::vector<const Node*>& nodes, const ModelRecipe& recipe,
                    const ModelInput& source, const ModelInput& target);

/// The tree of some nodes of a graph with shapes and multiplications, and no numbers. Layers and heads that
/// are like the one before are told in one line.
void add_outline(Page& page, const Graph& graph, const std::vector<const Node*>& nodes);

}  // namespace attn
