#pragma once

#include <functional>

#include "core/graph/graph.hpp"
#include "core/term/explanation.hpp"

namespace attn {

/// The cells of named matrices that a cell is made of in one step, ranges of them at once: what stands between without
/// a name is passed through. Of an input there are none.
void each_named_part(const Node& node, std::size_t row, std::size_t column, const TakeCells& take);

/// Whether a cell is made of another one in one step.
bool is_made_of(const Cell& cell, const Cell& part);

/// The named matrices that are made of a node in one step, in order.
std::vector<const Node*> dependents_of_node(const Node& node);

}  // namespace attn
