#pragma once

#include <string>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"

namespace attn {

/// Adds the walk with vectors (notes "Self-Attention in Detail"): one word's query through the steps, in
/// every head and every sentence that has the word. `word` is a label of a row, or its number. Throws
/// InputError when no row is called so.
void add_word_walk(Page& page, const Graph& graph, const std::string& word);

}  // namespace attn
