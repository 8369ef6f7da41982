#pragma once

#include "problem/request.hpp"

namespace attn {

/// Throws InputError when two fields of a request exclude each other, or one needs another.
void check_contradictions(const Request& request);

/// Throws InputError when there are more heads and layers than can be shown.
void check_repeats(const Problem& problem);

/// Throws InputError when the sizes of a problem's matrices disagree with what was asked for, or cannot be
/// shared out among its heads.
void check_sizes(const Request& request, const Problem& problem);

}  // namespace attn
