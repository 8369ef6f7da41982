#pragma once

#include "command/backward/loss.hpp"
#include "tell/gradient_steps.hpp"

namespace attn {

/// Adds every number there and back with its multiplications, and one step of this size against the gradients
/// of the parameters. Throws InputError for more numbers than anybody works out by hand.
void add_by_hand(Page& page, const Loss& loss, const std::vector<GradientStep>& steps, double step_size);

}  // namespace attn
