#pragma once

namespace attn {

/// A step of training, by attn and by PyTorch, and the matrix products in it alone: by our own kernel and by
/// BLAS.
void register_training_step();

}  // namespace attn
