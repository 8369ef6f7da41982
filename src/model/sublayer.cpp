#include "model/sublayer.hpp"

#include <fmt/format.h>

#include <array>

namespace attn {
namespace {

std::string norm_name(const SublayerPlace& place) {
  return fmt::format("norm_{}", place.number);
}

// The residual connection.
Value plus_itself(const Value& x, Value found, const SublayerPlace& place) {
  return name(Name(role::sum, place.number), add(x, std::move(found)));
}

Value post_norm(Value x, const Sublayer& sublayer, const SublayerPlace& place) {
  Value sum = plus_itself(x, sublayer(x), place);
  return normalised_within(norm_name(place), std::move(sum), *place.layer);
}

Value pre_norm(Value x, const Sublayer& sublayer, const SublayerPlace& place) {
  return plus_itself(x, sublayer(normalised_within(norm_name(place), x, *place.layer)), place);
}

Value no_norm(Value x, const Sublayer& sublayer, const SublayerPlace& place) {
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

Value normalised_within(std::string_view scope_name, Value x, const Learned& learned) {
  const Graph::Scope scope(x.graph(), scope_name);
  return name(role::output, layer_norm(std::move(x), learned.norm(scope_name)));
}

}  // namespace attn
