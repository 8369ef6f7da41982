#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// The cell called `weights[1,2]` or `head.2.weights[it,animal]`; a label may stand in double quotes.
/// Throws InputError: no such matrix, row or column, a label that several rows have.
Cell find_cell(const Graph& graph, std::string_view address);

/// The same, or all cells of the row called `x[animal]`. Throws likewise.
std::vector<Cell> find_cells(const Graph& graph, std::string_view address);

/// Whether there is exactly one row or column of this label, or one of this number.
bool has_place(const Axis& axis, std::size_t size, std::string_view place);

/// The place of a row or column by its label or by its number from 1; a number counts, unless it is in
/// quotes. `what` is "row 'x' of weights". Throws InputError.
std::size_t find_place(const Axis& axis, std::size_t size, std::string_view place, std::string_view what);

}  // namespace attn
