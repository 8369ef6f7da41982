#include "support/list.hpp"

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

std::string listed(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " and " : ", ";
    list += words[i];
  }
  return list;
}

}  // namespace attn
