#pragma once

#include <span>
#include <string_view>

#include "attention/attention.hpp"

namespace attn {

/// The nonlinearity of a feed-forward layer, applied to each number.
struct Activation {
  std::string_view name;
  std::string_view summary;
  std::string_view title;   // in a sentence: "ReLU"
  std::string_view effect;  // what it does to a number
  const Role& result;       // what the numbers are called after it
  const Function& function;
  Value (*apply)(const Value& x);
};

/// relu (the default), gelu, gelu-tanh, tanh, silu. A new one is a function of one number and a row.
std::span<const Activation> activations();

/// The activation of a feed-forward layer whose result a node is, or null.
const Activation* activation_of(const Node& node);
/// That of the layer in the scope of a node, or null.
const Activation* activation_beside(const Node& node);

/// Two learned maps with a nonlinearity between them.
struct FeedForward {
  Projection inner;  // [d_model, d_ff]
  Projection outer;  // [d_ff, d_model]
  const Activation* activation = &activations().front();
};

/// activation(x W_1 + b_1) W_2 + b_2 for every position alike: `inner`, the result of the activation, such as
/// `rectified`, and that of the layer, which the caller names.  [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, equation 2; Zhang et al., Dive into Deep Learning, 11.7)
Value feed_forward(const Value& x, const FeedForward& layer);

}  // namespace attn
