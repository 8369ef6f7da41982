#include "render/style.hpp"

#include <algorithm>

#include "render/width.hpp"

namespace attn {

std::size_t Style::limit() const {
  constexpr std::size_t usual = 80, least = 20;
  return width == 0 ? usual : std::max(width, least);
}

std::string Style::signs(std::string_view text) const {
  return printable(unicode ? text : in_ascii(text));
}

}  // namespace attn
