#pragma once

#include <span>
#include <string_view>

namespace attn {

/// A problem file under lessons/examples, compiled in. The first one is the default.
struct Example {
  std::string_view name;
  std::string_view json;
};

std::span<const Example> examples();

}  // namespace attn
