#include "browser/hash.hpp"

#include <sys/types.h>

// After the types of the system, which it needs.
#include <sha2.h>

#include <array>

#include "browser/base64.hpp"

namespace attn {

std::string source_hash(std::string_view text) {
  SHA2_CTX context;
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  SHA256Final(digest.data(), &context);
  return "sha256-" + in_base64(std::as_bytes(std::span(digest)));
}

}  // namespace attn
