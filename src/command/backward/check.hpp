#pragma once

#include "command/backward/loss.hpp"
#include "tell/gradient_steps.hpp"

namespace attn {

/// Compares gradients with central finite differences, of which the page tells the rule; the verdict is
/// failed where one disagrees.
Outcome check_gradients(const Loss& loss, const std::vector<GradientStep>& steps);

}  // namespace attn
