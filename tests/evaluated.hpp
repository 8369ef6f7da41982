#pragma once

#include "core/graph/graph.hpp"
#include "core/term/term.hpp"

namespace attn {

/// The value of the tree, worked out from its leaves, and those from the matrices they point into.
inline double evaluated(const Term& term) { return number_from(term); }

}  // namespace attn
