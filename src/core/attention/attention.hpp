#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "core/attention/positional_encoding.hpp"
#include "core/attention/score.hpp"
#include "core/op/operations.hpp"

namespace attn {

/// How attention is computed: everything but the queries, the keys and the values.
struct AttentionRecipe {
  const ScoringFunction* function = &scoring_functions().front();         // by which queries and keys are compared
  ScoreParameters learned = {};                                           // what it has learned
  const PositionKind* positions = &position_kinds().front();              // what distances add to the raw scores
  std::optional<Value> position_table = {};                               // what was learned of distances
  Waves waves = {};                                                       // of positions that are waves
  QueryKeyPositions apart = {};                                           // where queries and keys stand
  std::function<Value(const Value&)> normalize_q = {}, normalize_k = {};  // of each head, before it is compared
  std::optional<Scalar> divisor = {};                                     // of the scores
  std::optional<Scalar> factor = {};                                      // of the scores, instead of a divisor
  std::optional<Scalar> cap = {};                          // the scaled scores lie between −cap and cap
  std::optional<Value> bias = {};                          // added to the scaled scores     [n_q, n_k]
  std::optional<Value> allowed = {};                       // 0 where a query may not look   [n_q, n_k]
  double fill = -std::numeric_limits<double>::infinity();  // takes the place of a score that is not allowed
};

/// A learned map X·W + b.
struct Projection {
  Value w;                 // [in, out]
  std::optional<Value> b;  // [1, out]
};

/// x · w + b.  [n, in] -> [n, out].  Throws InputError when they do not fit together.
Value linear(const Value& x, const Projection& projection);

/// What the recipe makes of queries and keys: `scores`, which know their function. With relative positions
/// they are the sum of `content` and `relative`; with rotary ones `rotated_q` and `rotated_k` are compared.
/// [n_q, d_q] [n_k, d_k] -> [n_q, n_k].
/// (Zhang et al., Dive into Deep Learning, 11.3; Shaw et al. 2018, equation 4)
Value attention_scores(const Value& q, const Value& k, const AttentionRecipe& recipe);

/// The scores divided or multiplied by what the recipe says, or as they are.  [n_q, n_k] -> [n_q, n_k].
/// (Vaswani et al. 2017, section 3.2.1)
Value scaled_scores(const Value& scores, const AttentionRecipe& recipe);

/// From the scores to weights whose rows sum to one: `scaled`, with a cap `capped` = cap · tanh(scaled /
/// cap), `masked`, `weights`.  [n_q, n_k] -> [n_q, n_k].  (Vaswani et al. 2017, section 3.2.1; the cap: Gemma
/// Team 2024, Gemma 2: Improving Open Language Models at a Practical Size, section 2)
Value attention_weights(const Value& scores, const AttentionRecipe& recipe);

/// cap · tanh(x / cap): nearly x where x is small, and never beyond the cap.  [m, n] -> [m, n].
Value soft_cap(const Value& x, const Scalar& cap);

/// The weighted sum of the values.  [n_q, n_k] [n_k, d_v] -> [n_q, d_v].  Throws InputError when a key has no
/// value.  (Zhang et al., Dive into Deep Learning, 11.1)
Value weighted_sum(const Value& weights, const Value& v);

/// softmax(q kᵀ / √d_k) v: `scores` … `weights`, and the weighted sum, which the caller names.
/// [n_q, d_k] [n_k, d_k] [n_k, d_v] -> [n_q, d_v].  (Vaswani et al. 2017, equation 1)
Value attention(const Value& q, const Value& k, const Value& v, const AttentionRecipe& recipe);

/// The part of q, k or v that belongs to one head: head i of h has columns i·d/h … (i+1)·d/h − 1, i from 0.
/// [n, h·d] -> [n, d].  Throws InputError when the columns cannot be shared out equally.
Value head_part(const Value& whole, const Role& part, std::size_t head, std::size_t heads);

/// How many heads queries have, and how many keys and values: as many, or fewer, which groups of neighboring
/// queries share.  (Ainslie et al. 2023, GQA: Training Generalized Multi-Query Transformer Models,
/// section 2.2)
struct HeadCounts {
  HeadCounts(std::size_t all) : HeadCounts(all, all) {}
  HeadCounts(std::size_t queries, std::size_t keys) : of_queries(queries), of_keys(keys) {}
  std::size_t of_queries;
  std::size_t of_keys;  // divides that of the queries
};

/// Throws InputError when groups of queries cannot share the heads of keys equally.
void require_groups(HeadCounts heads);

/// The part of k or v that head i of the queries attends to: of its group, which neighboring heads share.
/// [n, h_k·d] -> [n, d].  Throws InputError when the columns cannot be shared out equally.
Value shared_part(const Value& whole, const Role& part, std::size_t head, HeadCounts heads);

/// Opens the scope of one of several, `head.2`, counted from 1. One alone has no scope.
std::optional<Graph::Scope> scope_among(Graph& graph, const ScopeKind& kind, std::size_t number, std::size_t count);

/// How several heads attend: each as the recipe says, and what becomes of them side by side.
struct MultiHead {
  AttentionRecipe recipe = {};
  HeadCounts heads = 1;
  std::optional<Projection> output_projection = {};  // [h·d_v, d_model]
  /// The recipe of head i, from 0, made in its scope, where not all heads have the same; null: they do.
  std::function<AttentionRecipe(const AttentionRecipe& of_all, std::size_t head)> in_head = {};
};

/// `head.1.output` … `head.h.output`, each an attention of its own on its part of q, k and v, then `concat`
/// and, with a projection, `output`; one head has no scope and its result is called `head`.
/// [n_q, h·d_k] [n_k, h_k·d_k] [n_k, h_k·d_v] -> [n_q, d_model].  (Vaswani et al. 2017, section 3.2.2)
Value multi_head_attention(const Value& q, const Value& k, const Value& v, const MultiHead& how);

/// A scoring function with what it has learned, and the scale that belongs to it. Throws InputError when one
/// of its matrices is missing, and as divisor() does.
AttentionRecipe recipe_of(const ScoringFunction& function, const ScoreParameters& learned, const KeySizes& sizes);

/// The recipe itself. Throws InputError when its scoring function needs a matrix that it has not learned.
AttentionRecipe complete(AttentionRecipe recipe);

}  // namespace attn
