#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The number of insertions, deletions, replacements and neighbor swaps that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'walk'?)" when one of `names` is close to `typed`, otherwise "".
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

/// "unknown WHAT 'typed' (did you mean …?). Choose one of: …", with `names` when they are few.
std::string unknown(std::string_view what, std::string_view typed, const std::vector<std::string>& names);

/// Throws InputError with that sentence.
[[noreturn]] void fail_unknown(std::string_view what, std::string_view typed,
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

}  // namespace attn
