#include "attention/feed_forward.hpp"

#include <algorithm>
#include <array>

namespace attn {
namespace {

const std::array table = {
    Activation{"relu", "max(x, 0)  (Vaswani et al. 2017)", "ReLU", "negative numbers become 0",
               role::rectified, rectifier, relu},
    Activation{"gelu", "x Φ(x), with the normal distribution Φ  (Hendrycks and Gimpel 2016)", "GELU",
               "each number x is multiplied by the probability Φ(x) of a normal distribution",
               role::activated, gelu_function, gelu},
    Activation{"gelu-tanh", "GELU with a tanh in place of Φ, as in GPT-2  (Hendrycks and Gimpel 2016)",
               "GELU by tanh",
               "each number x is multiplied by an approximation of the probability Φ(x) of a normal "
               "distribution",
               role::activated, gelu_by_tanh_function, gelu_by_tanh},
    Activation{"tanh", "the hyperbolic tangent", "tanh", "every number is brought between −1 and 1",
               role::activated, hyperbolic_tangent, attn::tanh},
    Activation{"silu", "x σ(x), also called swish  (Hendrycks and Gimpel 2016)", "SiLU",
               "each number x is multiplied by 1 / (1 + exp(−x))", role::activated, silu_function, silu},
};

}  // namespace

std::span<const Activation> activations() {
  return table;
}

const Activation* activation_of(const Node& node) {
  const bool is_of_layer = !node.operands.empty() && node.operands.front()->is(role::inner);
  if (!is_of_layer) return nullptr;
  const Function* const function = function_of(*node.operation);
  const auto found = std::ranges::find_if(
      table, [&](const Activation& row) { return &row.function == function && node.is(row.result); });
  return found == table.end() ? nullptr : &*found;
}

const Activation* activation_beside(const Node& node) {
  for (const Activation& row : table) {
    const Node* const result = node.beside(row.result);
    if (const Activation* found = result ? activation_of(*result) : nullptr) return found;
  }
  return nullptr;
}

Value feed_forward(const Value& x, const FeedForward& layer) {
  Value inner = name(role::inner, linear(x, layer.inner));
  Value activated = name(layer.activation->result, layer.activation->apply(inner));
  return linear(activated, layer.outer);
}

}  // namespace attn
