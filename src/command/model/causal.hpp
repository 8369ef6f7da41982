#pragma once

#include "command/model/choice.hpp"

namespace attn {

/// What is compared: the output of the decoder, where the model has one.
std::vector<const Node*> compared(const Graph& graph);

/// Changes every word of the target but the first in turn: no output of the decoder before it may move.
/// Throws InputError: no decoder, a single word, numbers that overflow.
Outcome check_causal(const ModelChoice& choice);

}  // namespace attn
