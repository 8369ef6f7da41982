#pragma once

#include "model/transformer.hpp"
#include "page/page.hpp"

namespace attn {

/// Adds nodes of a model of this recipe that was run on these words, part by part: a heading for each scope,
/// what that part does when it comes first, and its formulas and tables.
void add_model_walk(Page& page, const std::vector<const Node*>& nodes, const ModelRecipe& recipe,
                    const ModelInput& source, const ModelInput& target);

}  // namespace attn
