#include "render/color.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace attn {
namespace {

struct Rgb {
  int red, green, blue;
};

// From pale to strong; blue for more, orange for less than zero: told apart by the colour-blind too.
constexpr Rgb pale_blue{222, 235, 247}, strong_blue{8, 69, 148};
constexpr Rgb pale_orange{254, 230, 206}, strong_orange{166, 54, 3};
constexpr std::array palette_blue = {189, 153, 111, 68, 25};
constexpr std::array palette_orange = {224, 216, 209, 173, 130};
constexpr double visible = 0.05;  // a smaller share is not shaded

int between(int from, int to, double share) {
  return from + static_cast<int>(std::lround(share * (to - from)));
}

}  // namespace

std::string shading(double share, Heat heat, Colors colors) {
  const double strength = std::fmin(1.0, std::fabs(share));
  if (heat == Heat::none || colors == Colors::none || !(strength > visible)) return "";
  const bool negative = share < 0.0;
  const bool dark = strength > 0.55;
  switch (colors) {
    case Colors::none:
      return "";
    case Colors::sixteen:
      if (!dark) return "";
      return negative ? "\x1b[30;43m" : "\x1b[97;44m";
    case Colors::palette256: {
      const auto& palette = negative ? palette_orange : palette_blue;
      const auto step = static_cast<std::size_t>(strength * 4.0 + 0.5);
      return fmt::format("\x1b[38;5;{};48;5;{}m", dark ? 231 : 16, palette[step]);
    }
    case Colors::full: {
      const Rgb from = negative ? pale_orange : pale_blue, to = negative ? strong_orange : strong_blue;
      const char* const ink = dark ? "255;255;255" : "16;16;16";
      return fmt::format("\x1b[38;2;{};48;2;{};{};{}m", ink, between(from.red, to.red, strength),
                         between(from.green, to.green, strength), between(from.blue, to.blue, strength));
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
