#include "support/whole_number.hpp"

#include "support/error.hpp"
#include "support/parsed.hpp"

namespace attn {

std::size_t whole_number(std::string_view what, std::string_view text, std::size_t least, std::size_t most) {
  const std::optional<std::size_t> value = parsed<std::size_t>(text);
  if (value && *value < least) fail("{} must be {} or more", what, least);
  if (!value || *value > most)
    fail("{} must be a whole number from {} to {}, not '{}'", what, least, most, text);
  return *value;
}

}  // namespace attn
