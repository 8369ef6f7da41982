#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention.hpp"

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

/// Two learned maps with a nonlinearity between them, and perhaps a third one beside the first: a gate.
struct FeedForward {
  Projection inner;                                       // [d_model, d_ff]
  Projection outer;                                       // [d_ff, d_model]
  const Activation* activation = &activations().front();  // of the gate, where there is one
  std::optional<Projection> gate = {};                    // [d_model, d_ff]
};

/// activation(x W_1 + b_1) W_2 + b_2 for every position alike: `inner`, the result of the activation, such as
/// `rectified`, and that of the layer, which the caller names.  [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, equation 2; Zhang et al., Dive into Deep Learning, 11.7)
/// With a gate it is (activation(x W_gate + b_gate) ⊙ (x W_1 + b_1)) W_2 + b_2: `gate`, the result of the activation,
/// `inner`, `gated`.  (Shazeer 2020, GLU Variants Improve Transformer, equation 6)
Value feed_forward(const Value& x, const FeedForward& layer);

namespace family {
/// What layers would give if they mixed the words only once. Its weights are weights.
inline constexpr Family averaging{.name = "averaging", .keeps_facts = true};
}  // namespace family

namespace scope {
inline constexpr ScopeKind averaging{.name = "averaging", .family = &family::averaging};
}  // namespace scope

/// The maps that every word goes through in a layer, by itself.
struct LayerMaps {
  Projection v;
  std::optional<Projection> output = {};
  std::optional<FeedForward> feed_forward = {};
};

/// What layers would give if they mixed the words once, with the product of their weights, and each word went
/// through their maps by itself: `weights`, `values` and `output` in the scope `averaging`. Without a
/// nonlinearity it is what they give. `weights` has those of every layer, the first one first, and all layers
/// have the same maps.  [n, d_model] -> [n, d_model].  (Notes "Self-Attention as a Building Block")
void average_once(const Value& x, const std::vector<Value>& weights, const LayerMaps& maps);

/// The parameter with this role, or nothing.
std::optional<Value> find(const Parameters& parameters, const Role& role);

/// The two parameters of a linear layer, by their roles.
struct LinearRoles {
  const Role& w;
  const Role& b;
};
namespace linear_layer {
inline constexpr LinearRoles q{role::w_q, role::b_q}, k{role::w_k, role::b_k}, v{role::w_v, role::b_v},
    o{role::w_o, role::b_o}, inner{role::w_1, role::b_1}, outer{role::w_2, role::b_2}, gate{role::w_gate, role::b_gate};
}

/// x · w + b; nothing without a w. Throws InputError for a b without its w, and for one that does not fit it.
std::optional<Projection> projection(const Parameters& parameters, const LinearRoles& of);

/// The maps of the feed-forward layer, with this nonlinearity, and its gate where it has one. Throws InputError unless
/// both maps are there.
FeedForward feed_forward_of(const Parameters& parameters, const Activation& activation);

}  // namespace attn
