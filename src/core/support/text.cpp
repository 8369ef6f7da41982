#include "core/support/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/support/error.hpp"

namespace attn {

// --- text

std::vector<std::string_view> split_at(std::string_view list, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = list.find(separator); end != std::string_view::npos; end = list.find(separator)) {
    pieces.push_back(list.substr(0, end));
    list.remove_prefix(end + 1);
  }
  pieces.push_back(list);
  return pieces;
}

std::vector<std::string> split_at_any(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string_view without_byte_order_mark(std::string_view bytes) {
  return bytes.starts_with(byte_order_mark) ? bytes.substr(byte_order_mark.size()) : bytes;
}

std::string_view trimmed(std::string_view text, std::string_view edges) {
  const std::size_t begin = text.find_first_not_of(edges);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(edges) + 1 - begin);
}

std::string list_in_words(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " and " : ", ";
    list += words[i];
  }
  return list;
}

std::size_t whole_number(std::string_view what, std::string_view text, std::size_t least, std::size_t most) {
  const std::optional<std::size_t> value = parse_number<std::size_t>(text);
  if (value && *value < least) fail("{} must be {} or more", what, least);
  if (!value || *value > most) fail("{} must be a whole number from {} to {}, not '{}'", what, least, most, text);
  return *value;
}

// --- lookup

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_ago(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_ago[j - 2] + 1);
      }
    }
    std::swap(two_ago, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

namespace {

// The name that is close to what was typed; null: none is.
const std::string* nearest(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t longest_name = 64;  // longer words are no typing errors, and the table is quadratic
  if (typed.size() > longest_name) return nullptr;
  const auto to_lower = [](char letter) { return 'A' <= letter && letter <= 'Z' ? letter + 32 : +letter; };
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    if (name.size() > longest_name) continue;
    // The same letters as capitals are nearer than any other letter.
    const bool is_same = std::ranges::equal(typed, name, {}, to_lower, to_lower);
    const std::size_t distance = is_same ? 0 : edit_distance(typed, name);
    if (distance < best_distance) {
      best = &name;
      best_distance = distance;
    }
  }
  return best;
}

// What to do where a name is unknown, for programs.
std::string hint_for(std::string_view typed, const std::vector<std::string>& names) {
  const std::string* const near = nearest(typed, names);
  return near ? fmt::format("did you mean '{}'?", *near) : "";
}

}  // namespace

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
  const std::string hint = hint_for(typed, names);
  return hint.empty() ? "" : fmt::format(" ({})", hint);
}

std::string unknown(std::string_view what, std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t few = 80;  // all fields of a problem
  std::string sentence = fmt::format("unknown {} '{}'{}", what, typed, did_you_mean(typed, names));
  if (!names.empty() && names.size() <= few) sentence += fmt::format(". Choose one of: {}", fmt::join(names, ", "));
  return sentence;
}

void fail_unknown(std::string_view what, std::string_view typed, const std::vector<std::string>& names) {
  throw InputError(unknown(what, typed, names), {.hint = hint_for(typed, names)});
}

void fail_unknown_at(std::string_view place, std::string_view what, std::string_view typed,
                     const std::vector<std::string>& names) {
  throw InputError(fmt::format("{}: {}", place, unknown(what, typed, names)), {.hint = hint_for(typed, names)});
}

}  // namespace attn
