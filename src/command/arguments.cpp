#include "command/arguments.hpp"

#include "support/error.hpp"
#include "support/parsed.hpp"

namespace attn {

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = options.find(option);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

void Arguments::tell(std::string_view stage) const {
  if (environment && environment->progress) environment->progress(stage);
}

std::optional<std::size_t> Arguments::count(std::string_view option, std::size_t least,
                                            std::size_t most) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  const std::optional<std::size_t> value = parsed<std::size_t>(*given);
  if (!value || *value < least || *value > most) {
    fail("--{}: '{}' is not a whole number from {} to {}", option, *given, least, most);
  }
  return value;
}

void Arguments::exclude(std::string_view one, std::string_view other) const {
  if (has(one) && has(other)) fail("--{} and --{} are both given: give one of them", one, other);
}

}  // namespace attn
