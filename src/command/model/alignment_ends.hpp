#pragma once

#include "command/model/translation.hpp"
#include "page/page.hpp"

namespace attn {

/// What is known at the end of a translation: the alignment, the probability of each word and of the whole
/// sentence, and what each output depends on.
void add_alignment_ends(Page& page, const Graph& graph, const Translation& translation);

}  // namespace attn
