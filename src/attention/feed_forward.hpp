#pragma once

#include "attention/attention.hpp"

namespace attn {

/// Two learned maps with a nonlinearity between them.
struct FeedForward {
  Projection inner;  // [d_model, d_ff]
  Projection outer;  // [d_ff, d_model]
};

/// ReLU(x W_1 + b_1) W_2 + b_2 for every position alike: `inner`, `rectified`, and the result, which the
/// caller names.  [n, d_model] -> [n, d_model].  (Vaswani et al. 2017, equation 2; D0 11.7; D4)
Value feed_forward(Value x, const FeedForward& layer);

}  // namespace attn
