#include "page/page.hpp"

namespace attn {

Span strong(std::string text) {
  return {Span::Style::strong, std::move(text)};
}

Span code(std::string text) {
  return {Span::Style::code, std::move(text)};
}

}  // namespace attn
