#include "model/vocabulary.hpp"

#include <algorithm>

namespace attn {

std::size_t id_in(const Vocabulary& vocabulary, std::string_view word) {
  const auto found = std::ranges::find(vocabulary, word);
  return found == vocabulary.end() ? 0 : static_cast<std::size_t>(found - vocabulary.begin()) + 1;
}

Vocabulary with_new_words(Vocabulary vocabulary, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (id_in(vocabulary, word) == 0) vocabulary.push_back(word);
  }
  return vocabulary;
}

}  // namespace attn
