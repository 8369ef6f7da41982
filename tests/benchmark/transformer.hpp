#pragma once

namespace attn {

/// The base Transformer against PyTorch: one pass, and words one after another with the cache.
void register_transformer();

}  // namespace attn
