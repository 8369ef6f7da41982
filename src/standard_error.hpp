#pragma once

#include <string_view>

namespace attn {

/// Writes to standard error. Where that is closed or full nobody is left to be told, and nothing happens.
void tell(std::string_view bytes);

}  // namespace attn
