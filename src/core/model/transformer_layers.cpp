#include <fmt/format.h>

#include "core/attention/score.hpp"
#include "core/model/transformer.hpp"
#include "core/op/gradient_operations.hpp"

namespace attn {

namespace {

// Whether queries or keys are normalized in each head, and not all of their numbers together.
bool is_of_head(const Value& gamma, const Value& all, std::size_t heads) {
  return heads > 1 && gamma.shape().columns * heads == all.shape().columns;
}

// A layer at work: its sub-layers, each in a scope of its own, one after another.
class LayerAtWork {
 public:
  LayerAtWork(Value x, const ParameterNodes& learned, const LayerRecipe& recipe)
      : before_(std::move(x)), x_(before_), learned_(learned), recipe_(recipe) {}

  template <class Memorize>
  void attend(const ScopeKind& scope, const AttentionInputs& looking, const Memorize& memory) {
    connect([&](const Value& words) {
      const Graph::Scope open(words.graph(), scope);
      const ParameterNodes learned = learned_.within({scope});
      return look_at(words, memory(words, learned), learned, looking, &scope == &scope::self_attention);
    });
  }

  // Where the layer has one.
  Value feed_forward() {
    if (!learned_.has({{scope::feed_forward}, role::w_1})) return x_;
    connect([&](const Value& words) {
      const ParameterNodes learned = learned_.within({scope::feed_forward});
      const Graph::Scope open(words.graph(), scope::feed_forward);
      FeedForward layer{learned.projection(linear_layer::inner), learned.projection(linear_layer::outer),
                        recipe_.model.activation};
      if (learned.has(role::w_gate)) layer.gate = learned.projection(linear_layer::gate);
      return name(role::output, attn::feed_forward(words, layer));
    });
    return x_;
  }

 private:
  Value normalized(const ScopeKind& norm, const Value& words) const {
    return normalized_within({norm, number_}, words, learned_, recipe_.model);
  }

  // A sub-layer with its norms and the residual connection around it.
  void connect(const Sublayer& sublayer) {
    ++number_;
    const NormPlacement& norm = *recipe_.model.norm;
    const Value& taken = norm.in_parallel ? before_ : x_;
    Value found = sublayer(norm.before ? normalized(scope::norm, taken) : taken);
    if (recipe_.dropout) found = recipe_.dropout->apply(found, number_);
    if (norm.after) found = normalized(norm.has_two() ? scope::post_norm : scope::norm, found);
    x_ = name(Name(role::sum, number_), add(x_, found));
    if (norm.of_sum) x_ = normalized(scope::norm, x_);
  }

  // The queries of words look at the memory with several heads: `q` … `output`. Where queries and keys are
  // told their positions, these are positions of the same words.  (Vaswani et al. 2017, section 3.2)
  Value look_at(const Value& words, const KeysAndValues& memory, const ParameterNodes& learned,
                const AttentionInputs& looking, bool has_positions) const {
    const ModelRecipe& model = recipe_.model;
    Value q = name(role::q, linear(words, learned.projection(linear_layer::q)));
    const KeySizes sizes{.d_k = q.shape().columns / recipe_.heads.of_queries, .n_k = sentences_of(memory.k).rows};
    AttentionRecipe recipe{.waves = waves_of_head(sizes.d_k),
                           .apart = looking.apart,
                           .divisor = divisor(model.scale, sizes),
                           .bias = looking.bias,
                           .allowed = looking.allowed};
    if (model.score_cap != 0.0) recipe.cap = bound_of(model.score_cap);
    if (has_positions) recipe.positions = model.positions;
    const std::optional<Value> gamma_q = learned.find(role::gamma_q), gamma_k = learned.find(role::gamma_k);
    if (gamma_q && !is_of_head(*gamma_q, q, recipe_.heads.of_queries)) {
      q = normalized_in(scope::q_norm, q, *gamma_q, model);
    } else if (gamma_q) {
      recipe.normalize_q = [&model, gamma_q](const Value& x) {
        return normalized_in(scope::q_norm, x, *gamma_q, model);
      };
    }
    if (gamma_k && is_of_head(*gamma_k, memory.k, recipe_.heads.of_keys)) {
      recipe.normalize_k = [&model, gamma_k](const Value& x) {
        return normalized_in(scope::k_norm, x, *gamma_k, model);
      };
    }
    MultiHead how{recipe, recipe_.heads, learned.projection(linear_layer::o)};
    if (!looking.relative.empty()) {
      how.in_head = [&](const AttentionRecipe& of_all, std::size_t head) {
        AttentionRecipe own = of_all;
        const Value& relative = looking.relative[head];
        own.bias = own.bias ? add(*own.bias, relative) : relative;
        return own;
      };
    }
    return multi_head_attention(q, memory.k, memory.v, how);
  }

  // Layers with a window may have waves of their own.
  Waves waves_of_head(std::size_t d_k) const {
    const ModelRecipe& model = recipe_.model;
    const auto turned = static_cast<std::size_t>(model.rotated * static_cast<double>(d_k));
    Waves waves{.base = model.base, .turned = turned == d_k ? 0 : turned};
    if (recipe_.is_local && model.local_base != 0.0) {
      waves.base = model.local_base;
    } else {
      waves.slower = slower_waves(model.scaling, model.base, turned);
    }
    return waves;
  }

  Value before_;  // what goes into the layer
  Value x_;
  const ParameterNodes& learned_;
  const LayerRecipe& recipe_;
  std::size_t number_ = 0;
};

}  // namespace

KeysAndValues keys_and_values_of(const Value& x, const ParameterNodes& attention, const LayerRecipe& recipe) {
  KeysAndValues memory{name(role::k, linear(x, attention.projection(linear_layer::k))),
                       name(role::v, linear(x, attention.projection(linear_layer::v)))};
  const std::optional<Value> gamma = attention.find(role::gamma_k);
  if (gamma && !is_of_head(*gamma, memory.k, recipe.heads.of_keys))
    memory.k = normalized_in(scope::k_norm, memory.k, *gamma, recipe.model);
  return memory;
}

KeysAndValues joined(const KeysAndValues& before, const KeysAndValues& more) {
  return {name(role::keys, stack({before.k, more.k})), name(role::values, stack({before.v, more.v}))};
}

Value normalized_within(const ScopeName& scope, const Value& x, const ParameterNodes& learned,
                        const ModelRecipe& recipe) {
  const Graph::Scope open(x.graph(), scope);
  const ParameterNodes inner = learned.within({scope});
  return name(role::output,
              recipe.norm_kind->apply(
                  x, {.gamma = inner.at(role::gamma), .beta = inner.find(role::beta), .epsilon = recipe.epsilon}));
}

Value normalized_in(const ScopeKind& scope, const Value& x, const Value& gamma, const ModelRecipe& recipe) {
  const Graph::Scope open(x.graph(), scope);
  return name(role::output, recipe.norm_kind->apply(x, {.gamma = gamma, .epsilon = recipe.epsilon}));
}

Scalar bound_of(double number) {
  const std::string notation = fmt::format("{}", number);
  return {number, {notation, notation}};
}

Value encoder_layer(const Value& x, const ParameterNodes& layer, const LayerRecipe& recipe,
                    const AttentionInputs& looking) {
  LayerAtWork work(x, layer, recipe);
  work.attend(scope::self_attention, looking, [&](const Value& words, const ParameterNodes& learned) {
    return keys_and_values_of(words, learned, recipe);
  });
  return work.feed_forward();
}

Value decoder_layer(const Value& x, const ParameterNodes& layer, const LayerRecipe& recipe,
                    const DecoderAttentionInputs& looking, const std::optional<Value>& encoded,
                    DecoderCache& remembered) {
  LayerAtWork work(x, layer, recipe);
  work.attend(scope::self_attention, recipe.is_local ? looking.local : looking.self,
              [&](const Value& words, const ParameterNodes& learned) {
                const KeysAndValues now = keys_and_values_of(words, learned, recipe);
                remembered.self = remembered.self ? joined(*remembered.self, now) : now;
                return *remembered.self;
              });
  if (encoded) {
    work.attend(scope::cross_attention, looking.cross, [&](const Value&, const ParameterNodes& learned) {
      if (!remembered.cross) remembered.cross = keys_and_values_of(*encoded, learned, recipe);
      return *remembered.cross;
    });
  }
  return work.feed_forward();
}

}  // namespace attn
