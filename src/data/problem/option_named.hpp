#pragma once

#include <string>
#include <string_view>

namespace attn {

/// The option of the first member that a sentence names between its signs, as with_options() finds it; empty: it names
/// none.
std::string option_named_in(std::string_view sentence);

}  // namespace attn
