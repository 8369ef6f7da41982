#pragma once

#include "command/forms.hpp"
#include "core/op/backward_pass.hpp"

namespace attn {

/// The number whose gradients are taken: a node, and the gradient by it from which all others follow. Where
/// the node is not the loss itself, the loss is the sum of its numbers, each times its gradient.
struct Loss {
  Value from;
  Value d_from;
  Text told;  // what it is, in a sentence or two
};

/// Adds the loss that the arguments ask for: --of, --upstream, the cross-entropy of right words, or what
/// comes out. Throws InputError.
Loss add_loss(const Differentiable& forward, const Arguments& arguments);

/// Adds the logit of the right word at each position where it is known.  -> [n, 1].
const Node& add_right_logits(const Differentiable& forward);

/// Σ of the node's numbers, each times its gradient.
double value_of(const Loss& loss);

}  // namespace attn
