#pragma once

#include "files/json_writer.hpp"
#include "graph/graph.hpp"

namespace attn {

/// Writes a computation as JSON from which it can be computed again elsewhere: its labels and its nodes, each
/// with its operation, attributes, operands and shape; inputs with all digits of their numbers, and of the
/// named results twelve, to compare with. A node that is a part of which attention can do without (scale,
/// mask, positions) says what stands in its place then.
void write_computation(const Graph& graph, JsonWriter& json);

/// How many numbers of the computation would be written.
std::size_t numbers_written(const Graph& graph);

}  // namespace attn
