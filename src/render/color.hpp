#pragma once

#include <string>

#include "page/page.hpp"
#include "render/style.hpp"

namespace attn {

/// The escape sequence that begins the shading of a cell, or "" where it stays plain. `share` is the cell's
/// size against the largest of its table, from −1 to 1.
std::string shading(double share, Heat heat, Colors colors);

/// The sequences for emphasis; all empty without colours.
std::string bold(Colors colors);
std::string dim(Colors colors);
std::string plain(Colors colors);

}  // namespace attn
