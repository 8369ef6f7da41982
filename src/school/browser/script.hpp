#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// The operations of a page in JavaScript: `const operations = {…}`, of each the function that says how one cell of
/// its result is made. It is written from the text of the cell in the operation's row. With `numbers` of numbers.js it
/// works the cell out, with a tree it explains it. Behind it `const computations = {…}`, of each the function that
/// makes all cells of a node in place, in loops: the same numbers sooner.
std::string script_of_operations(std::span<const Op* const> all);

/// The operations of a computation, each once.
std::vector<const Op*> operations_of(const Graph& graph);

}  // namespace attn
