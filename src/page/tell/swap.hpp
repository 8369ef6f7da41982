#pragma once

#include <cstddef>

#include "core/graph/graph.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"

namespace attn {

/// Two words of a sentence, counted from 0.
struct WordPair {
  std::size_t a, b;
};

/// The outputs of the same words with two of them swapped, without positional encoding and with it: what
/// changes. The problem has one sentence. Throws InputError when it has no outputs.
void add_swap(Page& page, Graph& graph, const Problem& problem, const WordPair& pair);

}  // namespace attn
