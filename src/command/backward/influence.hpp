#pragma once

#include "command/forms.hpp"

namespace attn {

/// What depends on which number: on that of --by, that of --of on all others, or the outputs on the words,
/// beside the attention weights. Throws InputError.
Answer influence_page(const Differentiable& forward, const Arguments& arguments);

}  // namespace attn
