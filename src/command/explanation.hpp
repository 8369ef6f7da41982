#pragma once

#include <string>
#include <vector>

#include "command/command.hpp"
#include "graph/plan.hpp"

namespace attn {

/// Adds how one cell of a graph came about and, up to `depth` steps behind it, how its terms did.
/// The page is then about its matrix. Throws InputError when no cell is called so.
void add_explanation(Page& page, const Graph& graph, const std::string& address, std::size_t depth);

/// Leaves no more of a command's page than what --only or --explain asks for, or puts what --product, --map
/// or --from shows in its place; there --only chooses the weights. Otherwise a pattern chooses among the
/// matrices of the page, or, where it matches none of them, among all matrices of the computation behind it.
/// Throws InputError when there is no such matrix or cell.
void narrow(Outcome& outcome, const Command& command, const Arguments& arguments);

/// The nodes whose numbers are needed: those of --only, those that an explanation begins at, none for an
/// outline, or the others.
std::vector<const Node*> wanted_nodes(const Graph& graph, const Arguments& arguments,
                                      std::vector<const Node*> (*others)(const Graph&) = all_nodes);

}  // namespace attn
