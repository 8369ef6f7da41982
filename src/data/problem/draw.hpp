#pragma once

#include "data/problem/problem.hpp"

namespace attn {

/// Draws what is asked for and not given, in this order where --random numpy asks for one: the embeddings of a text and
/// of a memory, one vector for each different word
/// (`<blank>` has zeros); w_q, w_k, w_v and for several heads w_o; or q, k and v themselves where their
/// numbers of rows are asked for. Throws InputError: sizes that cannot be, a word that the embeddings file
/// does not have.
void draw_missing(const OptionValues& given, Problem& problem);

/// Draws what the problem's scoring function has learned and nobody gave, from the seed that is given.
void draw_score_parameters(const OptionValues& given, Problem& problem);

}  // namespace attn
