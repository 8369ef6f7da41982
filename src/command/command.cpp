#include "command/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {

std::optional<std::string> Arguments::only() const {
  if (!has(option::only)) return std::nullopt;
  return fmt::format("{}", fmt::join(texts(option::only), "|"));
}

LongWork* Arguments::long_work() const { return environment ? environment->work : nullptr; }

void Arguments::tell(std::string_view stage) const {
  if (LongWork* const work = long_work()) work->tell(stage);
}

}  // namespace attn
