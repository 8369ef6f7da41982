#pragma once

#include <string_view>
#include <vector>

namespace attn {

/// The pieces between separators, empty ones too: "1,,2" has three, and "" has one.
std::vector<std::string_view> pieces_of(std::string_view list, char separator = ',');

}  // namespace attn
