#include "core/term/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/support/error.hpp"

namespace attn {

namespace {

constexpr std::array<std::string_view, 10> superscripts = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

bool is_name_begin(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_in_name(char c) { return is_name_begin(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

}  // namespace

void QuantityScanner::skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

std::string_view QuantityScanner::taken(std::size_t length) {
  const std::string_view piece = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return piece;
}

bool QuantityScanner::is_at_end() {
  skip_blanks();
  return rest_.empty();
}

bool QuantityScanner::is_at_name() { return !is_at_end() && is_name_begin(rest_.front()); }

std::string_view QuantityScanner::next_name() {
  if (!is_at_name()) return {};
  return rest_.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_in_name) - rest_.begin()));
}

void QuantityScanner::skip_name_or_sign() {
  if (!is_at_end()) taken(std::max<std::size_t>(next_name().size(), 1));
}

bool QuantityScanner::take(std::string_view sign) {
  skip_blanks();
  if (!rest_.starts_with(sign)) return false;
  taken(sign.size());
  return true;
}

void QuantityScanner::expect(std::string_view sign) {
  if (take(sign)) return;
  if (is_at_end()) fail("'{}': {} is missing at the end", expression_, sign);
  fail("'{}': {} is missing before '{}'", expression_, sign, rest_);
}

double QuantityScanner::number() {
  skip_blanks();
  double value = 0.0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) fail("'{}': '{}' is neither a number nor a name", expression_, rest_);
  taken(static_cast<std::size_t>(end - rest_.data()));
  return take("%") ? value / 100 : value;
}

std::optional<int> QuantityScanner::superscript() {
  constexpr int largest = 1000;  // beyond, every power is 0 or infinite
  const bool negative = take("⁻");
  std::optional<int> value;
  for (;;) {
    const auto digit =
        std::ranges::find_if(superscripts, [&](std::string_view sign) { return rest_.starts_with(sign); });
    if (digit == superscripts.end()) break;
    value = std::min(value.value_or(0) * 10 + static_cast<int>(digit - superscripts.begin()), largest);
    taken(digit->size());
  }
  if (negative && !value) fail("'{}': a number is missing after ⁻", expression_);
  return negative ? -*value : value;
}

std::string_view QuantityScanner::name() {
  skip_blanks();
  return taken(static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_in_name) - rest_.begin()));
}

std::string_view QuantityScanner::quoted() {
  const std::string_view word = taken(std::min(rest_.find('"'), rest_.size()));
  expect("\"");
  return word;
}

std::string_view QuantityScanner::brackets() {
  expect("[");
  bool in_quotes = false;
  std::size_t end = 0;
  while (end < rest_.size() && (in_quotes || rest_[end] != ']')) in_quotes ^= rest_[end++] == '"';
  if (end == rest_.size()) fail("'{}': ] is missing", expression_);
  const std::string_view inside = taken(end);
  expect("]");
  return inside;
}

bool is_name(std::string_view text) {
  return !text.empty() && is_name_begin(text.front()) && std::ranges::all_of(text, is_in_name);
}

}  // namespace attn
