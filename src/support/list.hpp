#pragma once

#include <string_view>
#include <vector>

namespace attn {

/// The pieces between commas, empty ones too: "1,,2" has three, and "" has one.
std::vector<std::string_view> pieces_of(std::string_view list);

}  // namespace attn
