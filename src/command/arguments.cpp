#include "command/arguments.hpp"

#include "support/error.hpp"
#include "support/whole_number.hpp"

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
  return whole_number(fmt::format("--{}", option), *given, least, most);
}

void Arguments::exclude(std::string_view one, std::string_view other) const {
  if (has(one) && has(other)) fail("--{} and --{} are both given: give one of them", one, other);
}

}  // namespace attn
