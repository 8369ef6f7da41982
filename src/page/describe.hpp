#pragma once

#include <string>
#include <vector>

#include "page/page.hpp"

namespace attn {

/// The matrix of a node as a table: masked cells, shading and row sums follow from what the node is.
Table table_of(const Node& node);

/// How a node is computed: its formula, and the shapes of its operands and of its result.
FormulaBlock formula_block(const Node& node);

/// The formula and the table of one node.
void add_result(Page& page, const Node& node);

/// One sentence that reads a matrix of weights: where each query looks most.
Text reading_of_weights(const Node& weights);

/// How a cell came about and, up to `depth` steps behind it, how its terms did; every cell once.
std::vector<Block> derivations(const Cell& cell, std::size_t depth);

/// Whether the node is the result of a softmax (its rows sum to one, or to zero where no key may be looked
/// at).
bool holds_weights(const Node& node);

}  // namespace attn
