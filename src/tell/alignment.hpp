#pragma once

#include "page/page.hpp"
#include "problem/encoder_decoder_file.hpp"

namespace attn {

/// A translation, step by step, and then its ends.
void add_alignment_walk(Page& page, const Graph& graph, const Translation& translation);

/// What is known at the end of a translation: the alignment, the probability of each word and of the whole
/// sentence, and what each output depends on.
void add_alignment_ends(Page& page, const Graph& graph, const Translation& translation);

}  // namespace attn
