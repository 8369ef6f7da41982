#pragma once

#include <string>

#include "graph/graph.hpp"

namespace attn {

// What the results of the steps mean, in sentences that are true of these: they follow from how a matrix was
// computed, and of masks from where they are 0.

std::string meaning_of_projection(const Node&);
std::string meaning_of_similarity(const Node& node);
std::string meaning_of_scaled(const Node& node);
std::string meaning_of_masked(const Node& node);
/// "Mask", or where positions are added to the scores what that is.
std::string heading_of_masked(const Node& node);
std::string meaning_of_weights(const Node& node);
std::string meaning_of_sum(const Node& node);
std::string meaning_of_heads(const Node& node);
std::string meaning_of_joined(const Node& node);
std::string meaning_of_positions(const Node&);
std::string meaning_of_feed_forward(const Node&);
std::string meaning_of_averaging(const Node& node);

/// What weights are when they are transposed.
std::string meaning_of_alignment(const Node& alignment);

/// Why queries, keys and values are called so.  (Stenzel 2023, Transformer Pt. 1, appendix)
constexpr std::string_view names_of_projections =
    "The names come from looking things up in a database. The query is the question: in cross-attention it "
    "comes from the output, at the position that is being computed. Each key is matched against the query: "
    "it shows which parts of the input are relevant. The value is the answer: the content that is passed on. "
    "Keys and values come from the same words of the input, so each word is found by its key and read by its "
    "value. In self-attention, input and output are the same words, and each word has all three.";

}  // namespace attn
