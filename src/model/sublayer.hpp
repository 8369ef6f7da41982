#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "model/learned.hpp"

namespace attn {

/// Part of a layer that keeps the shape of what it works on: attention, or a feed-forward layer.
using Sublayer = std::function<Value(const Value& x)>;

/// Which of a layer's sub-layers: its residual is `sum_2`, its normalization `norm_2`.
struct SublayerPlace {
  const Learned& layer;
  std::size_t number;  // from 1
};

/// Where a layer normalizes.
struct NormPlacement {
  std::string_view name;
  std::string_view summary;
  Value (*connect)(const Value& x, const Sublayer& sublayer, const SublayerPlace& place);
  bool in_layers;
  bool at_the_end;  // what comes out of the last layer is normalised once more
};

/// post (Vaswani et al. 2017, section 3.1): LayerNorm(x + sublayer(x)); pre: x + sublayer(LayerNorm(x));
/// none: x + sublayer(x), for examples whose numbers are to stay small.
std::span<const NormPlacement> norm_placements();

/// A layer normalization in the scope of its own, `norm_1.output`.  [n, d_model] -> [n, d_model].
Value normalised_within(const ScopeName& scope, const Value& x, const Learned& learned);

}  // namespace attn
