#pragma once

#include <string>

#include "core/graph/graph.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"

namespace attn {

/// Adds the walk with vectors (notes "Self-Attention in Detail"): one word's query through the steps, in
/// every head and every sentence that has the word. `word` is a label of a row, or its number. Throws
/// InputError when no row is called so.
void add_word_walk(Page& page, const Graph& graph, const std::string& word);

/// Two words of a sentence, counted from 0.
struct WordPair {
  std::size_t a, b;
};

/// The outputs of the same words with two of them swapped, without positional encoding and with it: what
/// changes. The problem has one sentence. Throws InputError when it has no outputs.
void add_swap(Page& page, Graph& graph, const Problem& problem, const WordPair& pair);

}  // namespace attn
