#include "data/files/choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "data/files/cell.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most_shown = 16;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) shown.push_back(in_quotes(names[i]));
  if (names.size() > most_shown) shown.push_back("…");
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::size_t choose_matrix(const std::vector<std::string>& names, std::string_view key,
                          const std::string& where) {
  if (key.empty() && names.size() == 1) return 0;
  if (key.empty()) {
    fail("{} has {} matrices: add the name of one, as in {}. Choose one of: {}", where, names.size(),
         in_quotes(":" + names.front()), list_of(names));
  }
  const auto found = std::ranges::find(names, key);
  if (found == names.end()) {
    fail("{} has no matrix {}. Choose one of: {}", where, in_quotes(key), list_of(names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

void refuse_key(std::string_view key, const std::string& where) {
  if (!key.empty()) {
    fail("{} has one matrix without a name: leave out {}", where, in_quotes(":" + std::string(key)));
  }
}

}  // namespace attn
