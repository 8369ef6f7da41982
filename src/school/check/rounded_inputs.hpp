#pragma once

#include <vector>

#include "school/mistake/comparison.hpp"

namespace attn {

/// Where somebody saved inputs and results rounded to a few decimals, the inputs from which the results were computed
/// are not known exactly. Then each result may be off by as much as that can change it.
void allow_for_rounded_inputs(const Graph& graph, std::vector<ComparedMatrix>& compared);

}  // namespace attn
