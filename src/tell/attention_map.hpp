#pragma once

#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "page/page.hpp"

namespace attn {

/// Adds for each head where it attends, how concentrated its weights are, and its strongest pairs; the rules
/// by which that is decided; and small pictures of not too many heads. `pattern` chooses the weights;
/// `on_random` is a sentence to say, or empty. The
/// page's trace is one matrix with the numbers: a row for each head. Throws InputError without weights.
void add_attention_map(Page& page, const Graph& graph, const std::optional<std::string>& pattern,
                       const std::string& on_random);

}  // namespace attn
