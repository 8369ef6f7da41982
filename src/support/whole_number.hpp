#pragma once

#include <string_view>

namespace attn {

/// The whole number that a text is, from `least` to `most`. Throws InputError: "WHAT must be …".
std::size_t whole_number(std::string_view what, std::string_view text, std::size_t least, std::size_t most);

}  // namespace attn
