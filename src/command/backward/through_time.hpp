#pragma once

#include "command/computed_problem.hpp"

namespace attn {

/// Of a recurrent encoder-decoder: how much each output changes with each state of the encoder, along the
/// states and along the shortcut through attention. Nothing for other computations.
void add_through_time(QuantityPage& page, const Node& outputs);

}  // namespace attn
