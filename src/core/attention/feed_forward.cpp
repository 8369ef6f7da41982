#include "core/attention/feed_forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/support/error.hpp"

namespace attn {

namespace {

// --- feed forward

const std::array activation_table = {
    Activation{"relu", "max(x, 0)  (Vaswani et al. 2017)", "ReLU", "negative numbers become 0", role::rectified,
               rectifier, relu},
    Activation{"gelu", "x Φ(x), with the normal distribution Φ  (Hendrycks and Gimpel 2016)", "GELU",
               "each number x is multiplied by the probability Φ(x) of a normal distribution", role::activated,
               gelu_function, gelu},
    Activation{"gelu-tanh", "GELU with a tanh in place of Φ, as in GPT-2  (Hendrycks and Gimpel 2016)", "GELU by tanh",
               "each number x is multiplied by an approximation of the probability Φ(x) of a normal distribution",
               role::activated, gelu_by_tanh_function, gelu_by_tanh},
    Activation{"tanh", "the hyperbolic tangent", "tanh", "every number is brought between −1 and 1", role::activated,
               hyperbolic_tangent, attn::tanh},
    Activation{"silu", "x σ(x), also called swish  (Hendrycks and Gimpel 2016)", "SiLU",
               "each number x is multiplied by 1 / (1 + exp(−x))", role::activated, silu_function, silu},
};

// --- averaging

// Every word by itself.
Value through_layer(Value x, const LayerMaps& maps, std::size_t number) {
  const Graph::Scope layer(x.graph(), scope::layer, number);
  x = linear(x, maps.v);
  if (maps.output) x = linear(x, *maps.output);
  return maps.feed_forward ? feed_forward(x, *maps.feed_forward) : x;
}

}  // namespace

// --- feed forward

std::span<const Activation> activations() { return activation_table; }

const Activation* activation_of(const Node& node) {
  const bool is_of_layer =
      !node.operands.empty() && (node.operands.front()->is(role::inner) || node.operands.front()->is(role::gate));
  if (!is_of_layer) return nullptr;
  const Function* const function = node.op->function;
  const auto found = std::ranges::find_if(
      activation_table, [&](const Activation& row) { return &row.function == function && node.is(row.result); });
  return found == activation_table.end() ? nullptr : &*found;
}

const Activation* activation_beside(const Node& node) {
  for (const Activation& row : activation_table) {
    const Node* const result = node.beside(row.result);
    if (const Activation* found = result ? activation_of(*result) : nullptr) return found;
  }
  return nullptr;
}

Value feed_forward(const Value& x, const FeedForward& layer) {
  const auto activated = [&](const Value& numbers) {
    return name(layer.activation->result, layer.activation->apply(numbers));
  };
  if (!layer.gate) return linear(activated(name(role::inner, linear(x, layer.inner))), layer.outer);
  Value gate = activated(name(role::gate, linear(x, *layer.gate)));
  Value inner = name(role::inner, linear(x, layer.inner));
  return linear(name(role::gated, multiply(gate, inner)), layer.outer);
}

// --- averaging

void average_once(const Value& x, const std::vector<Value>& weights, const LayerMaps& maps) {
  const Graph::Scope scope(x.graph(), scope::averaging);
  Value values = x;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    values = through_layer(values, maps, i + 1);
    const bool last = i + 1 == weights.size();
    values = name(last ? Name(role::values) : Name(role::through_layer, i + 1), values);
  }
  Value mixing = weights.front();
  for (std::size_t i = 1; i < weights.size(); ++i) mixing = matmul(weights[i], mixing);
  mixing = name(role::weights, mixing);
  name(role::output, weighted_sum(mixing, values));
}

// --- parameters

std::optional<Value> find(const Parameters& parameters, const Role& role) {
  const auto found = parameters.find(&role);
  return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Projection> projection(const Parameters& parameters, const LinearRoles& of) {
  const std::string_view w_name = of.w.leaf, b_name = of.b.leaf;
  const std::optional<Value> w = find(parameters, of.w), b = find(parameters, of.b);
  if (!w && b)
    fail("{0} is given without {1}: give {1} too, since the bias is added to the product with it", b_name, w_name);
  if (!w) return std::nullopt;
  if (b && b->shape() != Shape{1, w->shape().columns}) {
    fail("{} is {} but {} is {}: the bias must be one row of {} numbers", b_name, to_string(b->shape()), w_name,
         to_string(w->shape()), w->shape().columns);
  }
  return Projection{*w, b};
}

FeedForward feed_forward_of(const Parameters& parameters, const Activation& activation) {
  const std::optional<Projection> inner = projection(parameters, linear_layer::inner),
                                  outer = projection(parameters, linear_layer::outer);
  if (!inner || !outer) {
    fail("the feed-forward layer needs w_1 and w_2: give both, or ‹seed› N for random ones");
  }
  return {*inner, *outer, &activation, projection(parameters, linear_layer::gate)};
}

}  // namespace attn
