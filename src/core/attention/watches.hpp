#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// Lets a graph's numbers be watched while they are made, kept or not: numbers that overflow, queries that
/// may attend to no key, masks that leak.
void watch(const Graph& graph);
/// A new graph that is watched from the beginning, and keeps everything.
std::shared_ptr<Graph> watched_graph();

/// Computes what the graph keeps, and watches it. Throws InputError, which names the first such cell, when a
/// computed number is not finite, except the −∞ of a mask; and as operations do.
void compute_watched(const Graph& graph);
/// The same for some nodes only.
void compute_watched(const Graph& graph, const std::vector<const Node*>& nodes);

/// The scores that `expanded` is, squared out.
const Node& scores_beside(const Node& expanded);

/// What the reader should know about the numbers that were watched.
std::vector<std::string> warnings(const Graph& graph);

}  // namespace attn
