#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "attention/feed_forward.hpp"

namespace attn {

/// The learned matrices of a problem, as nodes: `w_q`, `b_q`, …
using Parameters = std::map<std::string, Value, std::less<>>;

std::optional<Value> find(const Parameters& parameters, std::string_view name);

/// x · w + b for `which` of q, k, v, o, 1 and 2; nothing without a w. Throws InputError for a b without its
/// w, and for one that does not fit it.
std::optional<Projection> projection(const Parameters& parameters, char which);

/// The maps of the feed-forward layer. Throws InputError unless both are there.
FeedForward feed_forward_of(const Parameters& parameters);

}  // namespace attn
