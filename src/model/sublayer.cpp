#include "model/sublayer.hpp"

#include <array>

namespace attn {
namespace {

ScopeName norm_of(const SublayerPlace& place) {
  return {scope::norm, place.number};
}

// The residual connection.
Value plus_itself(const Value& x, const Value& found, const SublayerPlace& place) {
  return name(Name(role::sum, place.number), add(x, found));
}

Value post_norm(const Value& x, const Sublayer& sublayer, const SublayerPlace& place) {
  Value sum = plus_itself(x, sublayer(x), place);
  return normalised_within(norm_of(place), sum, place.layer);
}

Value pre_norm(const Value& x, const Sublayer& sublayer, const SublayerPlace& place) {
  Value normalised = normalised_within(norm_of(place), x, place.layer);
  return plus_itself(x, sublayer(normalised), place);
}

Value no_norm(const Value& x, const Sublayer& sublayer, const SublayerPlace& place) {
  return plus_itself(x, sublayer(x), place);
}

constexpr std::array table = {
    NormPlacement{"post", "after the residual connection: LayerNorm(x + sublayer(x))", post_norm, true,
                  false},
    NormPlacement{"pre", "before the sub-layer: x + sublayer(LayerNorm(x)), and once more at the end",
                  pre_norm, true, true},
    NormPlacement{"none", "no layer normalization: x + sublayer(x)", no_norm, false, false},
};

}  // namespace

std::span<const NormPlacement> norm_placements() {
  return table;
}

Value normalised_within(const ScopeName& scope, const Value& x, const Learned& learned) {
  const Graph::Scope open(x.graph(), scope);
  return name(role::output, layer_norm(x, learned.norm(scope)));
}

}  // namespace attn
