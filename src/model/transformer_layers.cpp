#include "model/transformer_layers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attention/feed_forward.hpp"
#include "attention/scale.hpp"

namespace attn {
namespace {

Value feed_forward_within(Value x, const Learned& layer) {
  const Learned learned = layer.within({scope::feed_forward});
  const Graph::Scope scope(x.graph(), scope::feed_forward);
  return name(role::output, feed_forward(std::move(x), {learned.projection(linear_layer::inner),
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
  return multi_head_attention(std::move(q), memory.k, memory.v,
                              {recipe, heads, attention.projection(linear_layer::o)});
}

Value encoder_layer(Value x, const Learned& layer, const LayerRecipe& recipe,
                    const std::optional<Value>& allowed) {
  Graph& graph = x.graph();
  const auto attend = [&](Value words) {
    const Graph::Scope scope(graph, scope::self_attention);
    const Learned learned = layer.within({scope::self_attention});
    return look_at(words, memory_of(words, learned), learned, recipe.heads, allowed);
  };
  const auto feed = [&](Value words) { return feed_forward_within(std::move(words), layer); };
  x = recipe.norm->connect(std::move(x), attend, {&graph, &layer, 1});
  return recipe.norm->connect(std::move(x), feed, {&graph, &layer, 2});
}

Value decoder_layer(Value x, const Learned& layer, const LayerRecipe& recipe, const DecoderMasks& masks,
                    const std::optional<Value>& encoded, DecoderMemory& remembered) {
  Graph& graph = x.graph();
  std::size_t number = 0;
  const auto connect = [&](const Sublayer& sublayer) {
    x = recipe.norm->connect(std::move(x), sublayer, {&graph, &layer, ++number});
  };
  connect([&](Value words) {
    const Graph::Scope scope(graph, scope::self_attention);
    const Learned learned = layer.within({scope::self_attention});
    const Memory now = memory_of(words, learned);
    remembered.self = remembered.self ? joined(*remembered.self, now) : now;
    return look_at(words, *remembered.self, learned, recipe.heads, masks.self);
  });
  if (encoded) {
    connect([&](Value words) {
      const Graph::Scope scope(graph, scope::cross_attention);
      const Learned learned = layer.within({scope::cross_attention});
      if (!remembered.cross) remembered.cross = memory_of(*encoded, learned);
      return look_at(words, *remembered.cross, learned, recipe.heads, masks.cross);
    });
  }
  connect([&](Value words) { return feed_forward_within(std::move(words), layer); });
  return x;
}

}  // namespace attn
