#include "render/style.hpp"

#include <algorithm>
#include <cmath>

#include "render/width.hpp"

namespace attn {

double Rgb::luminance() const {
  const auto linear = [](int part) { return std::pow(part / 255.0, 2.2); };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

std::size_t Style::limit() const {
  constexpr std::size_t usual = 80, least = 20;
  return width == 0 ? usual : std::max(width, least);
}

std::string Style::signs(std::string_view text) const {
  return unicode ? printable(text) : in_ascii(printable(text));
}

std::string Style::words(std::string_view text) const {
  std::string shown = printable(text);
  if (unicode) return shown;
  constexpr std::string_view replacement = "\uFFFD";
  for (std::size_t at = 0; (at = shown.find(replacement, at)) != std::string::npos; ++at)
    shown.replace(at, replacement.size(), "?");
  return shown;
}

}  // namespace attn
