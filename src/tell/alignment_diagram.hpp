#pragma once

#include <cstddef>

#include "page/page.hpp"
#include "problem/encoder_decoder_file.hpp"

namespace attn {

/// The output whose context is worth a look, counted from 1: the first whose largest weight is not at its own
/// place, or the first. 1 without attention.
std::size_t telling_output(const Graph& graph, const Translation& translation);

/// A recurrent encoder-decoder along its words: the states of the encoder and of the decoder in a row each,
/// and between them the context of one output with its attention weights. Without attention only the last
/// state leads on. Of many words the ends and those with the largest weights.
Diagram alignment_diagram(const Graph& graph, const Translation& translation, std::size_t output);

}  // namespace attn
