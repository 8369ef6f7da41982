#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "mistake/mistake.hpp"

namespace attn {

/// Which mistakes a computation tells apart in the matrices of these roles: a number for each, the same for
/// those that give the same numbers, at 3 decimals. Null stands for no mistake, as does one that cannot be
/// made.
std::vector<std::size_t> told_apart(const Graph& graph, std::span<const Mistake* const> mistakes,
                                    std::span<const Role* const> roles);

}  // namespace attn
