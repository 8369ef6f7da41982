#pragma once

#include "attention/attention.hpp"

namespace attn {

/// Two learned maps with a nonlinearity between them.
struct FeedForward {
  Projection inner;  // [d_model, d_ff]
  Projection outer;  // [d_ff, d_model]
};

/// ReLU(x W_1 + b_1) W_2 + b_2 for every position alike: `inner`, `rectified`, and the result, which the
/// caller names.  [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, equation 2; Zhang et al., Dive into Deep Learning, 11.7)
Value feed_forward(const Value& x, const FeedForward& layer);

}  // namespace attn
