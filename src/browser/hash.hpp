#pragma once

#include <string>
#include <string_view>

namespace attn {

/// The SHA-256 of a text in the form in which a content-security policy allows it: "sha256-…".
std::string source_hash(std::string_view text);

}  // namespace attn
