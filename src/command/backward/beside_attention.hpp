#pragma once

#include "command/computed_problem.hpp"

namespace attn {

/// How much each row of a result changes with each word, beside the attention weights. Throws InputError: no words go
/// in, or too many.
void add_attention_beside_gradient(QuantityPage& page, const Node& result);

}  // namespace attn
