#include "command/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {

std::optional<std::string> Arguments::only() const {
  if (!has(option::only)) return std::nullopt;
  return fmt::format("{}", fmt::join(texts(option::only), "|"));
}

void Arguments::tell(std::string_view stage) const {
  if (environment && environment->progress) environment->progress(stage);
}

}  // namespace attn
