#pragma once

#include "command/backward/asked_loss.hpp"
#include "page/tell/gradients.hpp"

namespace attn {

/// Compares gradients with central finite differences, of which the page tells the rule; the verdict is
/// failed where one disagrees. A step that meets a place without a derivative, or leaves what an operation is defined
/// for, is not taken, and the page tells what is not compared.
Answer check_gradients(const Loss& loss, const std::vector<GradientStep>& steps);

}  // namespace attn
