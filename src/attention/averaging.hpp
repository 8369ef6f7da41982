#pragma once

#include <optional>
#include <vector>

#include "attention/feed_forward.hpp"

namespace attn {

namespace family {
/// What layers would give if they mixed the words only once. Its weights are weights.
inline constexpr Family averaging{.name = "averaging", .keeps_facts = true};
}  // namespace family

namespace scope {
inline constexpr ScopeKind averaging{.name = "averaging", .family = &family::averaging};
}  // namespace scope

/// The maps that every word goes through in a layer, by itself.
struct LayerMaps {
  Projection v;
  std::optional<Projection> output = {};
  std::optional<FeedForward> feed_forward = {};
};

/// What layers would give if they mixed the words once, with the product of their weights, and each word went
/// through their maps by itself: `weights`, `values` and `output` in the scope `averaging`. Without a
/// nonlinearity it is what they give. `weights` has those of every layer, the first one first, and all layers
/// have the same maps.  [n, d_model] -> [n, d_model].  (Notes "Self-Attention as a Building Block")
void average_once(const Value& x, const std::vector<Value>& weights, const LayerMaps& maps);

}  // namespace attn
