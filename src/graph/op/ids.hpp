#pragma once

#include "graph/graph.hpp"

namespace attn {

/// The row of a table that the id in a row of `ids` stands for, counted from zero.
std::size_t place_of_id(const Matrix& ids, std::size_t row);

/// Throws InputError for the first id that is no row of the table.
void require_ids(const Value& ids, const Node& table);

}  // namespace attn
