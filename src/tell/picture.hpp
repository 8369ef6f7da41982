#pragma once

#include "graph/graph.hpp"
#include "page/page.hpp"
#include "problem/problem.hpp"

namespace attn {

/// One picture of an attention: a box for each of its main matrices with its shape, and arrows as they were
/// computed from each other. Heads that do the same are one box, and so are the layers above the first.
Flow picture_of(const Graph& graph, const Problem& problem);

}  // namespace attn
