#pragma once

#include "command/model/generation.hpp"
#include "page/page.hpp"

namespace attn {

/// What was given and written, a ledger of the steps, where each word looked in the source, and what the same
/// takes with and without the cache.
void add_generation(Page& page, const ModelChoice& choice, const GenerationPlan& plan,
                    const GenerationRun& run);

}  // namespace attn
