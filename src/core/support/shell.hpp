#pragma once

#include <string>
#include <string_view>

namespace attn {

/// A word as a shell takes it: in quotes where it has characters that mean something to a shell.
std::string shell_word(std::string_view word);

}  // namespace attn
