#include "page/page.hpp"

namespace attn {

Span strong(std::string text) {
  return {Span::Style::strong, std::move(text)};
}

Span code(std::string text) {
  return {Span::Style::code, std::move(text)};
}

void Page::say(std::string paragraph) {
  say(text(std::move(paragraph)));
}

void Page::head(int level, std::string title) {
  say(Heading{level, text(std::move(title))});
}

std::string words_of(const Text& text) {
  std::string words;
  for (const Span& span : text) words += span.text;
  return words;
}

}  // namespace attn
