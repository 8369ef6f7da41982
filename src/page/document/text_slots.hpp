#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// What stands between braces in a text: `scores[1,2]`, or `scores[1,2]: 4 decimals`.
struct TextSlot {
  std::string_view item;
  std::optional<int> decimals;
};

/// The text with what `write` gives in place of each {…}. A brace that stands for itself is written twice.
/// Throws InputError: a brace that is not closed, and what `write` throws.
std::string filled_in(std::string_view text, const std::function<std::string(const TextSlot& braces)>& write);

/// A number with so many decimals; without, as few as show it, at most four.
std::string written_number(double number, std::optional<int> decimals = std::nullopt);

}  // namespace attn
