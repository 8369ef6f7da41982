#pragma once

#include "model/sublayer.hpp"

namespace attn {

/// What all layers of a Transformer have in common.
struct LayerRecipe {
  std::size_t heads = 1;
  const NormPlacement* norm = nullptr;
};

/// What is looked at: the keys and values of one attention.
struct Memory {
  Value k;  // [n, d_model]
  Value v;  // [n, d_model]
};

/// The keys and values of some words: `k` and `v`.  [n, d_model] -> [n, d_model] twice.
Memory memory_of(const Value& x, const Learned& attention);

/// `before` and then `more`, as the cache of a decoder grows.
Memory joined(const Memory& before, const Memory& more);

/// The queries of x look at the memory with several heads: `q` … `output`.  `allowed` is 0 where a query may
/// not look.  [n_q, d_model] -> [n_q, d_model].  (Vaswani et al. 2017, section 3.2)
Value look_at(const Value& x, const Memory& memory, const Learned& attention, std::size_t heads,
              const std::optional<Value>& allowed);

/// Self-attention and feed-forward, each with residual connection and normalization: `self_attention.output`,
/// `sum_1`, `norm_1.output`, `feed_forward.output`, `sum_2`, `norm_2.output`.
/// [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, section 3.1; Zhang et al., Dive into Deep Learning, 11.7)
Value encoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe,
                    const std::optional<Value>& allowed);

/// What a decoder layer remembers of earlier words, and of what was encoded.
struct DecoderMemory {
  std::optional<Memory> self;
  std::optional<Memory> cross;
};

/// What the words of a decoder may look at; nothing: at all of it.
struct DecoderMasks {
  std::optional<Value> self;   // [n, n earlier and now]
  std::optional<Value> cross;  // [n, n encoded]
};

/// Masked self-attention, attention to `encoded` where the layer has it, and feed-forward. Keys and values of
/// earlier words are taken from `remembered`, and those of x are added to it.
/// [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, section 3.1; Zhang et al., Dive into Deep Learning, 11.7)
Value decoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe,
                    const DecoderMasks& masks, const std::optional<Value>& encoded,
                    DecoderMemory& remembered);

}  // namespace attn
