#pragma once

#include "command/model/choice.hpp"

namespace attn {

/// Runs a model on its words, as far as it goes: `source.x` … `distribution`.
void run_model(const ModelChoice& choice, Graph& graph);

/// Keeps what `keep` keeps, and what the parts of a model hand on, so that numbers that have overflowed are
/// found wherever that was.
Keep with_results(Keep keep);

/// Keeps what a page on the matrices that match shows: them, and what tells which of their weights are
/// masked.
Keep keep_shown(std::string pattern);

/// Keeps what `keep` keeps, and tells of every node that is made.
Keep telling(Keep keep, const Arguments& arguments);

/// Throws InputError when what a run keeps, and what it needs on its way, would not fit into memory. Nothing
/// is computed for it.
void require_memory(const ModelChoice& choice, const Keep& keep);

}  // namespace attn
