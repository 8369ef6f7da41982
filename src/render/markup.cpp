#include "render/markup.hpp"

#include "render/width.hpp"

namespace attn {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

std::string in_markup(std::string_view text) {
  return escaped(printable(text));
}

std::string lines_in_markup(std::string_view lines) {
  return escaped(printable_lines(lines));
}

}  // namespace attn
