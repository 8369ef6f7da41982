#include "support/list.hpp"

namespace attn {

std::vector<std::string_view> pieces_of(std::string_view list) {
  std::vector<std::string_view> pieces;
  for (std::size_t comma = list.find(','); comma != std::string_view::npos; comma = list.find(',')) {
    pieces.push_back(list.substr(0, comma));
    list.remove_prefix(comma + 1);
  }
  pieces.push_back(list);
  return pieces;
}

}  // namespace attn
