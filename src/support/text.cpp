#include "support/text.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace attn {

std::vector<std::string_view> pieces_of(std::string_view list, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = list.find(separator); end != std::string_view::npos; end = list.find(separator)) {
    pieces.push_back(list.substr(0, end));
    list.remove_prefix(end + 1);
  }
  pieces.push_back(list);
  return pieces;
}

std::vector<std::string> parted(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = 0;
       (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string_view trimmed(std::string_view text, std::string_view edges) {
  const std::size_t begin = text.find_first_not_of(edges);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(edges) + 1 - begin);
}

std::string listed(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " and " : ", ";
    list += words[i];
  }
  return list;
}

std::size_t whole_number(std::string_view what, std::string_view text, std::size_t least, std::size_t most) {
  const std::optional<std::size_t> value = parsed<std::size_t>(text);
  if (value && *value < least) fail("{} must be {} or more", what, least);
  if (!value || *value > most)
    fail("{} must be a whole number from {} to {}, not '{}'", what, least, most, text);
  return *value;
}

}  // namespace attn
