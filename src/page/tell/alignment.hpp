#pragma once

#include <cstddef>

#include "data/problem/encoder_decoder_file.hpp"
#include "page/block/page.hpp"

namespace attn {

/// A translation, step by step, and then its ends.
void add_alignment_walk(Page& page, const Graph& graph, const Translation& translation);

/// What is known at the end of a translation: the alignment, the probability of each word and of the whole
/// sentence, and what each output depends on.
void add_alignment_ends(Page& page, const Graph& graph, const Translation& translation);

/// The output whose context is worth a look, counted from 1: the first whose largest weight is not at its own
/// place, or the first. 1 without attention.
std::size_t telling_output(const Graph& graph, const Translation& translation);

/// A recurrent encoder-decoder along its words: the states of the encoder and of the decoder in a row each,
/// and between them the context of one output with its attention weights. Without attention only the last
/// state leads on. Of many words the ends and those with the largest weights.
Diagram alignment_diagram(const Graph& graph, const Translation& translation, std::size_t output);

}  // namespace attn
