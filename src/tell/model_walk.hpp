#pragma once

#include "page/page.hpp"

namespace attn {

/// Adds the trace of a model part by part: a heading for each scope, what that part does when it comes first,
/// and its formulas and tables.
void add_model_walk(Page& page);

}  // namespace attn
