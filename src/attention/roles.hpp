#pragma once

#include <string_view>

#include "graph/graph.hpp"

namespace attn {

// What part of an attention a node is.

/// Whether it lies within the scope of a head.
bool within_head(const Node& node);

/// Whether it was computed under this name; what layers would be as one averaging has names of its own.
bool computed(const Node& node, std::string_view leaf);

bool is_positioned(const Node& node);
bool is_feed_forward(const Node& node);
bool is_projection(const Node& node);
bool is_head(const Node& node);
bool is_joined(const Node& node);
bool is_scores(const Node& node);
bool is_of_averaging(const Node& node);
bool is_scaled(const Node& node);
bool is_masked(const Node& node);
bool is_weights(const Node& node);

/// Whether a node sums values with weights.
bool is_weighted_sum(const Node& node);

}  // namespace attn
