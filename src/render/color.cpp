#include "render/color.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace attn {
namespace {

struct Rgb {
  int red, green, blue;
};

// From almost nothing to bright, so that more is brighter on any background; blue for more than zero, orange
// for less: told apart by the colour-blind too.
constexpr Rgb nothing{22, 24, 34}, bright_blue{130, 205, 255}, bright_orange{255, 180, 95};
constexpr std::array palette_blue = {234, 17, 18, 25, 32, 75, 117};
constexpr std::array palette_orange = {234, 52, 94, 130, 172, 214, 222};
constexpr double bright = 0.55;  // from here on the ink is dark

int between(int from, int to, double share) {
  return from + static_cast<int>(std::lround(share * (to - from)));
}

}  // namespace

std::string shading(double share, Heat heat, Colors colors) {
  if (heat == Heat::none || colors == Colors::none || std::isnan(share)) return "";
  const double strength = std::fmin(1.0, std::fabs(share));
  const bool negative = share < 0.0;
  switch (colors) {
    case Colors::none:
      return "";
    case Colors::sixteen:
      if (strength < bright) return "";
      return negative ? "\x1b[30;43m" : "\x1b[97;44m";
    case Colors::palette256: {
      const auto& palette = negative ? palette_orange : palette_blue;
      const auto step = static_cast<std::size_t>(std::lround(strength * 6.0));
      return fmt::format("\x1b[38;5;{};48;5;{}m", strength < bright ? 255 : 16, palette[step]);
    }
    case Colors::full: {
      const Rgb to = negative ? bright_orange : bright_blue;
      const char* const ink = strength < bright ? "235;235;235" : "10;10;10";
      return fmt::format("\x1b[38;2;{};48;2;{};{};{}m", ink, between(nothing.red, to.red, strength),
                         between(nothing.green, to.green, strength),
                         between(nothing.blue, to.blue, strength));
    }
  }
  return "";
}

std::string bold(Colors colors) {
  return colors == Colors::none ? "" : "\x1b[1m";
}

std::string dim(Colors colors) {
  return colors == Colors::none ? "" : "\x1b[2m";
}

std::string plain(Colors colors) {
  return colors == Colors::none ? "" : "\x1b[0m";
}

}  // namespace attn
