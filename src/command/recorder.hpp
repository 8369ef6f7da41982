#pragma once

#include <string_view>

#include "page/block/page.hpp"

namespace attn {

/// The page of code that saves what something of this name took and made, for `attn check` to read. Throws InputError
/// where there is none.
Page recorder_page(std::string_view name);

}  // namespace attn
