#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "attention/feed_forward.hpp"

namespace attn {

/// The parameter with this role, or nothing.
std::optional<Value> find(const Parameters& parameters, const Role& role);

/// The two parameters of a linear layer, by their roles.
struct LinearRoles {
  const Role& w;
  const Role& b;
};
namespace linear_layer {
inline constexpr LinearRoles q{role::w_q, role::b_q}, k{role::w_k, role::b_k}, v{role::w_v, role::b_v},
    o{role::w_o, role::b_o}, inner{role::w_1, role::b_1}, outer{role::w_2, role::b_2};
}

/// x · w + b; nothing without a w. Throws InputError for a b without its w, and for one that does not fit it.
std::optional<Projection> projection(const Parameters& parameters, const LinearRoles& of);

/// The maps of the feed-forward layer. Throws InputError unless both are there.
FeedForward feed_forward_of(const Parameters& parameters);

}  // namespace attn
