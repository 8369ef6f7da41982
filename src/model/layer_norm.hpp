#pragma once

#include <optional>

#include "graph/graph.hpp"

namespace attn {

/// What a layer normalization has learned, and the small number under its root.
struct LayerNorm {
  static constexpr double usual_epsilon = 1e-5;

  Value gamma;                // [1, d]
  std::optional<Value> beta;  // [1, d]
  double epsilon = usual_epsilon;
};

/// γ (x − mean) / √(variance + ε) + β for every row by itself: `mean`, `variance`, `normalised`, and the
/// result, which the caller names.  [n, d] -> [n, d].  Throws InputError when γ or β is not one row of d.
/// (Ba et al. 2016; Zhang et al., Dive into Deep Learning, 11.7)
Value layer_norm(const Value& x, const LayerNorm& norm);

}  // namespace attn
