#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// How a query is compared with a key.  score: [n_q, d_k] [n_k, d_k] -> [n_q, n_k]
struct ScoreFunction {
  std::string_view name;
  std::string_view summary;
  std::string_view scale;  // the scale that belongs to it, a row of scales()
  Value (*score)(Value q, Value k);
};

/// scaled-dot (the default) and dot. A new scoring function is a function of values and one row.
std::span<const ScoreFunction> score_functions();

/// q · kᵀ, every query with every key. Throws InputError when their sizes differ.  (D4, e_ij = q_iᵀ k_j)
Value dot_product(Value q, Value k);

}  // namespace attn
