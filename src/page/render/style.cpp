#include "page/render/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "page/render/tex.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- color

// Cells are colored from the terminal's own ground up: nothing is filled at 0, and the largest cell stands
// out most, on dark grounds and on light ones. Blue for more than zero, orange for less: the color-blind can
// tell them apart.
struct Ramp {
  Rgb strongest;                   // where there are all colors
  std::array<int, 6> palette;      // of 256 colors, the faintest first
  std::string_view faint, strong;  // of sixteen
};

struct Ramps {
  Ramp positive, negative;
};

constexpr Ramps on_dark = {{{110, 190, 255}, {17, 18, 25, 32, 75, 117}, "\x1b[36m", "\x1b[97;44m"},
                           {{255, 170, 80}, {52, 94, 130, 172, 214, 222}, "\x1b[33m", "\x1b[30;43m"}};
constexpr Ramps on_light = {{{20, 80, 170}, {189, 153, 110, 68, 26, 18}, "\x1b[34m", "\x1b[97;44m"},
                            {{170, 75, 0}, {230, 223, 215, 208, 166, 94}, "\x1b[31m", "\x1b[30;43m"}};

constexpr double least = 0.03;                  // of the largest: what is smaller is not filled
constexpr double begins = 0.08;                 // the share of the color that the smallest filled cell gets
constexpr double middling = 0.25, large = 0.6;  // with sixteen colors

bool is_light(Rgb ground) {
  constexpr double middle_gray = 0.18;
  return ground.luminance() > middle_gray;
}

Rgb mixed(Rgb from, Rgb to, double share) {
  const auto between = [&](int a, int b) { return a + static_cast<int>(std::lround(share * (b - a))); };
  return {between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

// Of black and white the one that stands out more.
bool takes_dark_ink(Rgb fill) {
  constexpr double haze = 0.05;  // WCAG 2, contrast ratio
  const double light = fill.luminance() + haze;
  return light / haze > (1.0 + haze) / light;
}

// The colors 16 to 231 of the 256 are a cube.
Rgb of_palette(int index) {
  constexpr std::array levels = {0, 95, 135, 175, 215, 255};
  const auto level = [&](int divisor) { return levels[static_cast<std::size_t>((index - 16) / divisor % 6)]; };
  return {level(36), level(6), level(1)};
}

// As the sequences for colors have it, behind 38; or 48;.
std::string fill_of(double strength, const Ramp& ramp, const Style& style) {
  if (style.colors == Colors::palette256) {
    const double last = static_cast<double>(ramp.palette.size() - 1);
    return fmt::format("5;{}", ramp.palette[static_cast<std::size_t>(std::lround(strength * last))]);
  }
  const Rgb fill = mixed(style.ground, ramp.strongest, begins + (1.0 - begins) * strength);
  return fmt::format("2;{};{};{}", fill.red, fill.green, fill.blue);
}

std::string shade(double strength, const Ramp& ramp, const Style& style) {
  switch (style.colors) {
    case Colors::none:
      return "";
    case Colors::sixteen:
      return std::string(strength < middling ? "" : strength < large ? ramp.faint : ramp.strong);
    case Colors::palette256: {
      const double last = static_cast<double>(ramp.palette.size() - 1);
      const int fill = ramp.palette[static_cast<std::size_t>(std::lround(strength * last))];
      return fmt::format("\x1b[38;5;{};48;5;{}m", takes_dark_ink(of_palette(fill)) ? 16 : 231, fill);
    }
    case Colors::full: {
      const Rgb fill = mixed(style.ground, ramp.strongest, begins + (1.0 - begins) * strength);
      const char* const ink = takes_dark_ink(fill) ? "0;0;0" : "255;255;255";
      return fmt::format("\x1b[38;2;{};48;2;{};{};{}m", ink, fill.red, fill.green, fill.blue);
    }
  }
  return "";
}

double largest_in(const Table& table) {
  double largest = 0.0;
  for (const double value : cells(*table.cells)) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest == 0.0 ? 1.0 : largest;
}

std::string if_colored(const Style& style, const char* sequence) {
  return style.colors == Colors::none ? "" : sequence;
}

// Every table that a block shows.
template <class Visit>
void visit_tables(const Block& block, const Visit& visit) {
  if (const CommandOutput* const output = std::get_if<CommandOutput>(&block)) {
    for (const Block& inner : output->page->blocks) visit_tables(inner, visit);
  } else if (const Table* const table = std::get_if<Table>(&block)) {
    visit(*table);
  } else if (const HeatMap* const map = std::get_if<HeatMap>(&block)) {
    visit(map->table);
  } else if (const HeatMaps* const maps = std::get_if<HeatMaps>(&block)) {
    std::ranges::for_each(maps->tables, visit);
  } else if (const ShadedWords* const words = std::get_if<ShadedWords>(&block)) {
    visit(words->weights);
  } else if (const ProductBlock* const product = std::get_if<ProductBlock>(&block)) {
    for (const Table* const part : {&product->left, &product->right, &product->result}) visit(*part);
  } else if (const SideBySide* const group = std::get_if<SideBySide>(&block)) {
    std::ranges::for_each(group->tables, visit);
  }
}

}  // namespace

// --- style

double Rgb::luminance() const {
  const auto linear = [](int part) { return std::pow(part / 255.0, 2.2); };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

std::size_t Style::limit() const {
  constexpr std::size_t usual = 80, least = 20;
  return width == 0 ? usual : std::max(width, least);
}

std::string Style::signs(std::string_view text) const {
  const std::string shown = unicode ? printable(text) : in_ascii(printable(text));
  return settings<TexSettings>().tells_numbers ? with_character_numbers(shown) : shown;
}

std::string Style::words(std::string_view text) const {
  std::string shown = settings<TexSettings>().tells_numbers ? with_character_numbers(text) : printable(text);
  if (unicode) return shown;
  constexpr std::string_view replacement = "\uFFFD";
  for (std::size_t at = 0; (at = shown.find(replacement, at)) != std::string::npos; ++at)
    shown.replace(at, replacement.size(), "?");
  return shown;
}

// --- color

Strengths::Strengths(const Table& table) : heat_(table.heat) {
  if (heat_ == Heat::around_zero) largest_ = largest_in(table);
}

double Strengths::of(double value) const {
  if (heat_ == Heat::none || std::isnan(value)) return 0.0;
  const double strength = std::clamp(value / largest_, -1.0, 1.0);
  return std::fabs(strength) < least ? 0.0 : strength;
}

Shading::Shading(const Table& table, const Style& style) : heat_(table.heat), style_(style) {
  if (style.colors != Colors::none) strengths_.emplace(table);
}

std::string Shading::of(double value) const {
  const double strength = strengths_ ? strengths_->of(value) : 0.0;
  if (strength == 0.0) return "";
  const Ramps& ramps = is_light(style_.ground) ? on_light : on_dark;
  return shade(std::fabs(strength), strength < 0.0 ? ramps.negative : ramps.positive, style_);
}

std::string Shading::blank(double strength, std::size_t width) const {
  const std::string blanks(width, ' ');
  if (strength < least) return blanks;
  const Ramps& ramps = is_light(style_.ground) ? on_light : on_dark;
  return fmt::format("\x1b[48;{}m{}\x1b[0m", fill_of(strength, ramps.positive, style_), blanks);
}

std::string Shading::halves(double upper, double lower) const {
  if (upper < least && lower < least) return " ";
  const Ramps& ramps = is_light(style_.ground) ? on_light : on_dark;
  const auto fill = [&](double strength) { return fill_of(strength, ramps.positive, style_); };
  if (lower < least) return fmt::format("\x1b[38;{}m▀\x1b[0m", fill(upper));
  if (upper < least) return fmt::format("\x1b[38;{}m▄\x1b[0m", fill(lower));
  return fmt::format("\x1b[38;{};48;{}m▀\x1b[0m", fill(upper), fill(lower));
}

bool Shading::tells_sizes() const {
  return heat_ != Heat::none && (style_.colors == Colors::palette256 || style_.colors == Colors::full);
}

bool is_shaded(const Block& block) {
  bool is = false;
  visit_tables(block, [&](const Table& table) { is = is || table.heat != Heat::none; });
  return is;
}

std::size_t cells_shown(const std::vector<Block>& blocks) {
  std::size_t count = 0;
  for (const Block& block : blocks) {
    visit_tables(block, [&](const Table& table) { count += table.cells ? table.cells->size() : 0; });
  }
  return count;
}

std::string bold(const Style& style) { return if_colored(style, "\x1b[1m"); }

std::string italic(const Style& style) { return if_colored(style, "\x1b[3m"); }

std::string dim(const Style& style) { return if_colored(style, "\x1b[2m"); }

std::string plain(const Style& style) { return if_colored(style, "\x1b[0m"); }

std::string ink(Ink what, const Style& style) {
  // Of the sixteen colors those that can be read on dark grounds and on light ones.
  switch (what) {
    case Ink::question:
      return if_colored(style, "\x1b[1;35m");
    case Ink::correct:
      return if_colored(style, "\x1b[32m");
    case Ink::wrong:
      return if_colored(style, "\x1b[31m");
    case Ink::aside:
      return if_colored(style, "\x1b[35m");
    case Ink::command:
      return if_colored(style, "\x1b[36m");
  }
  return "";
}

std::string series_color(std::size_t series, const Style& style) {
  if (style.colors == Colors::none) return "";
  constexpr std::array dark = {75, 214, 114, 213, 203, 80}, light = {25, 166, 28, 127, 160, 30};
  constexpr std::array of_sixteen_on_dark = {36, 33, 35, 32, 31, 34}, of_sixteen_on_light = {34, 31, 35, 32, 36, 33};
  const bool is_on_light = is_light(style.ground);
  const std::size_t place = series % dark.size();
  if (style.colors == Colors::sixteen)
    return fmt::format("\x1b[{}m", (is_on_light ? of_sixteen_on_light : of_sixteen_on_dark)[place]);
  return fmt::format("\x1b[38;5;{}m", (is_on_light ? light : dark)[place]);
}

}  // namespace attn
