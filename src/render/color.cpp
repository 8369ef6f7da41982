#include "render/color.hpp"

#include <fmt/format.h>

#include <algorithm>
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

double largest_of(const Table& table) {
  double largest = 0.0;
  for (const double value : cells(*table.cells)) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest == 0.0 ? 1.0 : largest;
}

// `share` is the cell's size against the largest, from −1 to 1.
std::string shade(double share, Colors colors) {
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

}  // namespace

Shading::Shading(const Table& table, Colors colors) : heat_(table.heat), colors_(colors) {
  if (heat_ == Heat::around_zero && colors_ != Colors::none) largest_ = largest_of(table);
}

std::string Shading::of(double value) const {
  return heat_ == Heat::none || std::isnan(value) ? "" : shade(value / largest_, colors_);
}

bool Shading::tells_sizes() const {
  return heat_ != Heat::none && (colors_ == Colors::palette256 || colors_ == Colors::full);
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
