#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apart/explore/grid.hpp"
#include "page/render/style.hpp"

namespace attn {

/// A screen as a picture: SVG, on a dark ground or a light one. The title says what it is to who cannot see it.
std::string screenshot(const Grid& grid, Rgb ground, std::string_view title);

/// A screen that is seen for some time.
struct TimedScreen {
  Grid grid;
  double seconds;
};

/// Screens of one size one after the other, again and again, as a picture that moves: SVG. Where nothing moves, or the
/// reader wants no motion, the last one stands.
std::string recording(const std::vector<TimedScreen>& frames, Rgb ground, std::string_view title);

}  // namespace attn
