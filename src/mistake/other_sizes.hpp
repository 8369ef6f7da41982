#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// The operation of a node in another graph, on other operands, which may have other shapes than its own.
/// Throws InputError where they do not fit together, or the operation is bound to the shapes that it was made
/// for.
Value operation_on(const Node& original, const std::vector<Value>& operands, Graph& graph);

}  // namespace attn
