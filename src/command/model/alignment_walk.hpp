#pragma once

#include "command/model/translation.hpp"
#include "page/page.hpp"

namespace attn {

/// A translation, step by step.
void add_alignment_walk(Page& page, const Graph& graph, const Translation& translation);

}  // namespace attn
