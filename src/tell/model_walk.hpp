#pragma once

#include "graph/graph.hpp"
#include "page/page.hpp"

namespace attn {

/// Adds nodes of a model part by part: a heading for each scope, what that part does when it comes first,
/// and its formulas and tables.
void add_model_walk(Page& page, const std::vector<const Node*>& nodes);

}  // namespace attn
