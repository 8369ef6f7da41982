#pragma once

#include "command/model/translation.hpp"
#include "page/page.hpp"

namespace attn {

/// A translation, step by step. `page` has its graph.
void add_alignment_walk(Page& page, const Translation& translation);

}  // namespace attn
