#pragma once

#include "model/learned.hpp"

namespace attn {

/// How the layers of a Transformer compute.
struct LayerRecipe {
  const ModelRecipe& model;
  HeadCounts heads;
};

/// What one attention of a layer looks at, beside its parameters.
struct Looking {
  std::optional<Value> allowed = {};  // 0 where a query may not attend       [n_q, n_k]
  std::optional<Value> bias = {};     // added to the scaled scores           [n_q or 1, n_k]
  std::size_t before = 0;             // keys before that of the first query
};

/// What is looked at: the keys and values of one attention.
struct Memory {
  Value k;  // [n, h_k·d_k]
  Value v;  // [n, h_k·d_k]
};

/// The keys and values of some words: `k` and `v`.  [n, d_model] -> [n, h_k·d_k] twice.
Memory memory_of(const Value& x, const Learned& attention);

/// `before` and then `more`, as the cache of a decoder grows.
Memory joined(const Memory& before, const Memory& more);

/// The normalization of a scope, `norm_1.output`.  [n, d_model] -> [n, d_model].
Value normalised_within(const ScopeName& scope, const Value& x, const Learned& learned,
                        const ModelRecipe& recipe);

/// Self-attention and feed-forward, each with residual connection and normalization: `self_attention.output`,
/// `sum_1`, `norm_1.output`, `feed_forward.output`, `sum_2`, `norm_2.output`.
/// [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, section 3.1; Zhang et al., Dive into Deep Learning, 11.7)
Value encoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe, const Looking& looking);

/// What a decoder layer remembers of earlier words, and of what was encoded.
struct DecoderMemory {
  std::optional<Memory> self;
  std::optional<Memory> cross;
};

/// What the words of a decoder look at: earlier and present ones, and what was encoded.
struct DecoderLooking {
  Looking self, cross;
};

/// Masked self-attention, attention to `encoded` where the layer has it, and feed-forward. Keys and values of
/// earlier words are taken from `remembered`, and those of x are added to it.
/// [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, section 3.1; Zhang et al., Dive into Deep Learning, 11.7)
Value decoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe,
                    const DecoderLooking& looking, const std::optional<Value>& encoded,
                    DecoderMemory& remembered);

}  // namespace attn
