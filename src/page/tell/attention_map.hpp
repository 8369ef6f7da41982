#pragma once

#include <optional>
#include <string>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"

namespace attn {

/// Adds for each head where it attends, how concentrated its weights are, and its strongest pairs; the rules
/// by which that is decided; and small pictures of not too many heads. `pattern` chooses the weights;
/// `on_random` is a sentence to say, or empty. The
/// page's trace is one matrix with the numbers: a row for each head. Throws InputError without weights.
void add_attention_map(Page& page, const Graph& graph, const std::optional<std::string>& pattern,
                       const std::string& on_random);

/// Adds one query's weights in every attention that has it: the sentence once for each head, with its words
/// shaded, the average of the heads, and what that hides. `pattern` chooses the weights. `on_random` is a
/// sentence to say, or empty. `word` is a label of a row, or its number. The page's trace has these rows.
/// Throws InputError without such a row.
void add_from_word(Page& page, Graph& graph, const std::string& word, const std::optional<std::string>& pattern,
                   const std::string& on_random);

}  // namespace attn
