#pragma once

#include "problem/request.hpp"

namespace attn {

/// What the reader should know about how a problem was put together: fields that were given and change
/// nothing, which is no mistake, but may be a misunderstanding; given weights that are none.
std::vector<std::string> remarks_on(const Request& request, const Problem& problem);

}  // namespace attn
