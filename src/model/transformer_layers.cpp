#include "model/transformer_layers.hpp"

#include "attention/scale.hpp"
#include "op/sentences.hpp"

namespace attn {
namespace {

// A layer at work: its sub-layers, each in a scope of its own, one after another.
class LayerAtWork {
 public:
  LayerAtWork(Value x, const Learned& learned, const LayerRecipe& recipe)
      : x_(std::move(x)), learned_(learned), recipe_(recipe) {}

  template <class Memorize>
  void attend(const ScopeKind& scope, const Looking& looking, const Memorize& memory) {
    connect([&](const Value& words) {
      const Graph::Scope open(words.graph(), scope);
      const Learned learned = learned_.within({scope});
      return look_at(words, memory(words, learned), learned, looking, &scope == &scope::self_attention);
    });
  }

  // Where the layer has one.
  Value feed_forward() {
    if (!learned_.has({{scope::feed_forward}, role::w_1})) return x_;
    connect([&](const Value& words) {
      const Learned learned = learned_.within({scope::feed_forward});
      const Graph::Scope open(words.graph(), scope::feed_forward);
      return name(role::output, attn::feed_forward(words, {learned.projection(linear_layer::inner),
                                                           learned.projection(linear_layer::outer),
                                                           recipe_.model.activation}));
    });
    return x_;
  }

 private:
  void connect(const Sublayer& sublayer) {
    ++number_;
    const auto normalize = [&](const Value& words) {
      return normalised_within({scope::norm, number_}, words, learned_, recipe_.model);
    };
    x_ = recipe_.model.norm->connect(x_, sublayer, normalize, number_);
  }

  // The queries of words look at the memory with several heads: `q` … `output`. Where queries and keys are
  // told their positions, these are positions of the same words.  (Vaswani et al. 2017, section 3.2)
  Value look_at(const Value& words, const Memory& memory, const Learned& learned, const Looking& looking,
                bool has_positions) const {
    Value q = name(role::q, linear(words, learned.projection(linear_layer::q)));
    const KeySizes sizes{.d_k = q.shape().columns / recipe_.heads.of_queries,
                         .n_k = sentences_of(memory.k).rows};
    Recipe recipe{.base = recipe_.model.base,
                  .before = looking.before,
                  .divisor = divisor(recipe_.model.scale, sizes),
                  .bias = looking.bias,
                  .allowed = looking.allowed};
    if (has_positions) recipe.positions = recipe_.model.positions;
    return multi_head_attention(q, memory.k, memory.v,
                                {recipe, recipe_.heads, learned.projection(linear_layer::o)});
  }

  Value x_;
  const Learned& learned_;
  const LayerRecipe& recipe_;
  std::size_t number_ = 0;
};

}  // namespace

Memory memory_of(const Value& x, const Learned& attention) {
  return {name(role::k, linear(x, attention.projection(linear_layer::k))),
          name(role::v, linear(x, attention.projection(linear_layer::v)))};
}

Memory joined(const Memory& before, const Memory& more) {
  return {name(role::keys, stack({before.k, more.k})), name(role::values, stack({before.v, more.v}))};
}

Value normalised_within(const ScopeName& scope, const Value& x, const Learned& learned,
                        const ModelRecipe& recipe) {
  const Graph::Scope open(x.graph(), scope);
  const Learned inner = learned.within({scope});
  return name(role::output, recipe.norm_kind->apply(x, {.gamma = inner.at(role::gamma),
                                                        .beta = inner.find(role::beta),
                                                        .epsilon = recipe.epsilon}));
}

Value encoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe, const Looking& looking) {
  LayerAtWork work(x, layer, recipe);
  work.attend(scope::self_attention, looking, memory_of);
  return work.feed_forward();
}

Value decoder_layer(const Value& x, const Learned& layer, const LayerRecipe& recipe,
                    const DecoderLooking& looking, const std::optional<Value>& encoded,
                    DecoderMemory& remembered) {
  LayerAtWork work(x, layer, recipe);
  work.attend(scope::self_attention, looking.self, [&](const Value& words, const Learned& learned) {
    const Memory now = memory_of(words, learned);
    remembered.self = remembered.self ? joined(*remembered.self, now) : now;
    return *remembered.self;
  });
  if (encoded) {
    work.attend(scope::cross_attention, looking.cross, [&](const Value&, const Learned& learned) {
      if (!remembered.cross) remembered.cross = memory_of(*encoded, learned);
      return *remembered.cross;
    });
  }
  return work.feed_forward();
}

}  // namespace attn
