#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace attn {

/// Bytes in base64 with padding.  (RFC 4648, section 4)
std::string in_base64(std::span<const std::byte> bytes);

}  // namespace attn
