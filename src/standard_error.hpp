#pragma once

#include <string_view>

namespace attn {

/// Writes to standard error. Nothing happens where that is closed or full.
void tell(std::string_view bytes);

}  // namespace attn
