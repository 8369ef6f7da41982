#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The pieces between separators, empty ones too: "1,,2" has three, and "" has one.
std::vector<std::string_view> pieces_of(std::string_view list, char separator = ',');

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words);

}  // namespace attn
