#include "page/document/text_slots.hpp"

#include <span>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {
namespace {

TextSlot read_braces(std::string_view inside) {
  constexpr int most_decimals = 15;
  const std::size_t colon = inside.find(':');
  TextSlot braces{trimmed(inside.substr(0, colon)), std::nullopt};
  if (colon == std::string_view::npos) return braces;
  const std::vector<std::string> words = split_at_any(inside.substr(colon + 1), " ");
  if (words.size() == 2 && words[1].starts_with("decimal")) braces.decimals = parse_number<int>(words[0]);
  if (!braces.decimals || *braces.decimals < 0 || *braces.decimals > most_decimals)
    fail("'{}': write how many decimals, such as {{x: 2 decimals}}", inside);
  return braces;
}

}  // namespace

std::string filled_in(std::string_view text, const std::function<std::string(const TextSlot& braces)>& write) {
  std::string result;
  for (;;) {
    const std::size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    text.remove_prefix(open + 1);
    if (text.starts_with('{')) {
      result += '{';
      text.remove_prefix(1);
      continue;
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) fail("'{{{}' has no }}: write a name or an expression in braces", text);
    result += write(read_braces(text.substr(0, close)));
    text.remove_prefix(close + 1);
  }
}

std::string written_number(double number, std::optional<int> decimals) {
  constexpr int most = 4;
  return written_fixed(number, decimals.value_or(decimals_for(std::span(&number, 1), most)));
}

}  // namespace attn
