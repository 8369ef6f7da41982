#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "attention/score.hpp"
#include "graph/op/operations.hpp"

namespace attn {

/// How attention is computed: everything but the queries, the keys and the values.
struct Recipe {
  std::function<Value(Value q, Value k)> score = [](Value q, Value k) {
    return dot_product(std::move(q), std::move(k), {});
  };
  const ScoringFunction* function = &scoring_functions().front();  // what the score is computed by
  std::optional<Scalar> divisor = {};                              // of the scores
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
Value linear(Value x, const Projection& projection);

/// The scores divided by what the recipe says, or as they are.
Value divided(Value scores, const Recipe& recipe);

/// What the recipe makes of queries and keys: `scores`, which know their function.
/// [n_q, d_q] [n_k, d_k] -> [n_q, n_k].
Value attention_scores(Value q, Value k, const Recipe& recipe);

/// From the scores to weights whose rows sum to one: `scaled`, `masked`, `weights`.  [n_q, n_k] -> [n_q,
/// n_k]. (Vaswani et al. 2017, section 3.2.1; D0 11.3)
Value attention_weights(Value scores, const Recipe& recipe);

/// softmax(q kᵀ / √d_k) v: `scores` … `weights`, and the weighted sum, which the caller names.
/// [n_q, d_k] [n_k, d_k] [n_k, d_v] -> [n_q, d_v].  (Vaswani et al. 2017, equation 1; D1; D3)
Value attention(Value q, Value k, Value v, const Recipe& recipe);

/// The weighted sum of the values.  [n_q, n_k] [n_k, d_v] -> [n_q, d_v].  Throws InputError when a key has no
/// value.
Value weigh(Value weights, Value v);

/// The part of q, k or v that belongs to one head: head i of h has columns i·d/h … (i+1)·d/h − 1, i from 0.
/// [n, h·d] -> [n, d].  Throws InputError when the columns cannot be shared out equally.
Value head_part(Value whole, const Role& part, std::size_t head, std::size_t heads);

/// Runs `head(i)` for i from 0, each within its scope `head.1` … `head.h`; a single head has no scope.
void for_each_head(Graph& graph, std::size_t heads, const std::function<void(std::size_t)>& head);

/// How several heads attend: each as the recipe says, and what becomes of them side by side.
struct MultiHead {
  Recipe recipe = {};
  std::size_t heads = 1;
  std::optional<Projection> output_projection = {};  // [h·d_v, d_model]
};

/// `head.1.output` … `head.h.output`, each an attention of its own on its part of q, k and v, then `concat`
/// and, with a projection, `output`; one head has no scope and its result is called `head`. [n_q, h·d_k]
/// [n_k, h·d_k] [n_k, h·d_v] -> [n_q, d_model].  (Vaswani et al. 2017, section 3.2.2; D0 11.5; D2)
Value multi_head_attention(Value q, Value k, Value v, const MultiHead& how);

}  // namespace attn
