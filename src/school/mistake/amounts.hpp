#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace attn {

// How the number of a mistake is told, in words.

/// "0.001"
std::string amount_itself(const Node& node, double number);
/// "0.5 times the right one, so divided by 2", with the sizes that this may be a factor of, or what a step divides by
/// in all.
std::string amount_as_factor(const Node& node, double number);
/// Of something that is added once: "it is left out", "it is added twice", "it is subtracted", "it is added 0.5 times".
std::string amount_added(const Node& node, double number);

}  // namespace attn
