#pragma once

#include <string>
#include <vector>

#include "data/problem/option.hpp"
#include "data/problem/problem.hpp"

namespace attn {

/// Throws InputError when two options of a problem exclude each other, or one needs another.
void check_contradictions(const OptionValues& given);

/// Throws InputError when there are more heads and layers than can be shown.
void check_repeats(const Problem& problem);

/// Throws InputError when the sizes of a problem's matrices disagree with what was asked for, or cannot be
/// split among its heads.
void check_sizes(const OptionValues& given, const Problem& problem);

/// Where the mask of a causal attention begins. Queries that are fewer than the keys may as well be its last ones.
void tell_of_causal_mask(const OptionValues& given, const Problem& problem);

/// What the reader should know about how a problem was put together: options that have no effect, padding
/// that counts as words, weights that do not sum to one.
std::vector<std::string> remarks_on(const OptionValues& given, const Problem& problem);

}  // namespace attn
