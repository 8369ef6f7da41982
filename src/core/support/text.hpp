#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Text as lists, words and numbers.

/// The pieces between separators, empty ones too: "1,,2" has three, and "" has one.
std::vector<std::string_view> split_at(std::string_view list, char separator = ',');

using Words = std::vector<std::string>;

/// The words between separators, of which several count as one.
std::vector<std::string> split_at_any(std::string_view text, std::string_view separators);

/// What some editors put before the first line of a file.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
std::string_view without_byte_order_mark(std::string_view bytes);

/// A text without what is at its edges: blanks and ends of lines.
std::string_view trimmed(std::string_view text, std::string_view edges = " \t\r\n");

/// "a", "a and b", "a, b and c".
std::string list_in_words(const std::vector<std::string>& words);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text with the letters A to Z in lower case; all others stay.
inline std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

/// The number that the whole of a text is, without blanks or a plus sign; nothing for any other text, and for
/// a number that is too large for its type. A double may be "inf" or "nan".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// The whole number that a text is, from `least` to `most`. Throws InputError: "WHAT must be …".
std::size_t whole_number(std::string_view what, std::string_view text, std::size_t least, std::size_t most);

/// The number of insertions, deletions, replacements and neighbor swaps that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'walk'?)" when one of `names` is close to `typed`, otherwise "".
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

/// "unknown WHAT 'typed' (did you mean …?). Choose one of: …", with `names` when they are few.
std::string unknown(std::string_view what, std::string_view typed, const std::vector<std::string>& names);

/// Throws InputError with that sentence.
[[noreturn]] void fail_unknown(std::string_view what, std::string_view typed, const std::vector<std::string>& names);

/// The same behind the place where it was given.
[[noreturn]] void fail_unknown_at(std::string_view place, std::string_view what, std::string_view typed,
                                  const std::vector<std::string>& names);

/// The names of a table's rows, in its order.
template <class Row>
std::vector<std::string> names_of(std::span<const Row> table) {
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  return names;
}

/// The row called `name`, or null.
template <class Row>
const Row* find_row(std::span<const Row> table, std::string_view name) {
  for (const Row& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// The row called `name`. Throws InputError with the nearest names when there is none.
template <class Row>
const Row& look_up(std::span<const Row> table, std::string_view name, std::string_view what) {
  if (const Row* row = find_row(table, name)) return *row;
  fail_unknown(what, name, names_of(table));
}

/// The same for a name in a file or of an option, which the message names first.
template <class Row>
const Row& look_up(std::span<const Row> table, std::string_view name, std::string_view what, std::string_view place) {
  if (const Row* row = find_row(table, name)) return *row;
  fail_unknown_at(place, what, name, names_of(table));
}

}  // namespace attn
