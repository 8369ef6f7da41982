#pragma once

#include <optional>
#include <string>

#include "quantity/working.hpp"

namespace attn {

/// A bound that a typed number breaks, in a sentence: a weight lies between 0 and 1, an average between the
/// numbers that it is of. Nothing: it breaks none.
std::optional<std::string> broken_bound(const Working& asked, const Working& steps, double typed);

}  // namespace attn
