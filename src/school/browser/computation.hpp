#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/problem.hpp"

namespace attn {

/// Writes a computation as JSON from which it can be computed again elsewhere: its labels and its nodes, each
/// with its operation, attributes, operands and shape; inputs with all digits of their numbers, and of the
/// named results twelve, to compare with. A node that is a part of which attention can do without (scale,
/// mask, positions) says what stands in its place then. Of inputs of which `drawn` knows how they were drawn
/// from a seed, there is no more than that; of large results, some of the numbers, and the sum of all.
void write_computation(const Graph& graph, JsonWriter& json, const Calculation& drawn = {});

/// The same of a part of a graph: of nodes that stand behind all their operands. Of results, only
/// those that `is_compared` chooses have numbers.
void write_computation(std::span<const Node* const> nodes, const std::function<bool(const Node& node)>& is_compared,
                       JsonWriter& json);

/// Some nodes of a graph and all that they are computed from, in the order of the graph.
std::vector<const Node*> with_all_behind(std::span<const Node* const> nodes);

/// How many numbers of the computation would be written.
std::size_t numbers_written(const Graph& graph);

}  // namespace attn
