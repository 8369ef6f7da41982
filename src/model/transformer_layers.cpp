#include "model/transformer_layers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attention/feed_forward.hpp"
#include "attention/scale.hpp"

namespace attn {
namespace {

Value feed_forward_within(const Value& x, const Learned& layer) {
  const Learned learned = layer.within({scope::feed_forward});
  const Graph::Scope scope(x.graph(), scope::feed_forward);
  return name(role::output, feed_forward(x, {learned.projection(linear_layer::inner),
                                             learned.projection(linear_layer::outer)}));
}

}  // namespace

Memory memory_of(const Value& x, const Learned& attention) {
  return {name(role::k, linear(x, attention.projection(linear_layer::k))),
          name(role::v, linear(x, attention.projection(linear_layer::v)))};
}

Memory joined(const Memory& before, const Memory& more) {
  return {name(role::keys, stack({before.k, more.k})), name(role::values, stack({before.v, more.v}))};
}

Value look_at(const Value& x, const Memory& memory, const Learned& attention, std::size_t heads,
              const std::optional<Value>& allowed) {
  Value q = name(role::q, linear(x, attention.projection(linear_layer::q)));
  const std::size_t d_k = memory.k.shape().columns / heads;
  const Recipe recipe{.divisor = divisor("sqrt-dk", {.d_k = d_k}), .allowed = allowed};
  return multi_head_attention(q, memory.k, memory.v, {recipe, heads, attention.projection(linear_layer::o)});
}

Value encoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe,
                    const std::optional<Value>& allowed) {
  Graph& graph = x.graph();
  const auto attend = [&](const Value& words) {
    const Graph::Scope scope(graph, scope::self_attention);
    const Learned learned = layer.within({scope::self_attention});
    const Memory memory = memory_of(words, learned);
    return look_at(words, memory, learned, recipe.heads, allowed);
  };
  const auto feed = [&](const Value& words) { return feed_forward_within(words, layer); };
  Value attended = recipe.norm->connect(x, attend, {layer, 1});
  return recipe.norm->connect(attended, feed, {layer, 2});
}

Value decoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe,
                    const DecoderMasks& masks, const std::optional<Value>& encoded,
                    DecoderMemory& remembered) {
  Graph& graph = x.graph();
  const auto attend = [&](const Value& words) {
    const Graph::Scope scope(graph, scope::self_attention);
    const Learned learned = layer.within({scope::self_attention});
    const Memory now = memory_of(words, learned);
    remembered.self = remembered.self ? joined(*remembered.self, now) : now;
    return look_at(words, *remembered.self, learned, recipe.heads, masks.self);
  };
  const auto attend_to_encoded = [&](const Value& words) {
    const Graph::Scope scope(graph, scope::cross_attention);
    const Learned learned = layer.within({scope::cross_attention});
    if (!remembered.cross) remembered.cross = memory_of(*encoded, learned);
    return look_at(words, *remembered.cross, learned, recipe.heads, masks.cross);
  };
  const auto feed = [&](const Value& words) { return feed_forward_within(words, layer); };
  Value attended = recipe.norm->connect(x, attend, {layer, 1});
  if (!encoded) return recipe.norm->connect(attended, feed, {layer, 2});
  Value crossed = recipe.norm->connect(attended, attend_to_encoded, {layer, 2});
  return recipe.norm->connect(crossed, feed, {layer, 3});
}

}  // namespace attn
