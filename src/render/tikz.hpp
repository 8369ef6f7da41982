#pragma once

#include <string>

#include "render/drawing.hpp"

namespace attn {

/// The unit that drawings for TikZ are laid out in: 0.7 pt, in which a letter of 8 pt is 6 wide.
constexpr Metrics tikz_units{.column = 6, .line = 14, .limit = 480, .slanted = true};

/// A drawing laid out in these units as a picture of TikZ, no wider than a line and no higher than a page.
std::string tikz_of(const Drawing& drawing);

}  // namespace attn
