#pragma once

#include <string>

#include "graph/graph.hpp"
#include "page/page.hpp"

namespace attn {

/// Adds how one cell of a graph came about and, up to `depth` steps behind it, how its terms did.
/// The page is then about its matrix. Throws InputError when no cell is called so.
void add_explanation(Page& page, const Graph& graph, const std::string& address, std::size_t depth);

}  // namespace attn
