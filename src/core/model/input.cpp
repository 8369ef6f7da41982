#include "core/model/input.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_set>

namespace attn {

// --- input

Axis ModelInput::rows(std::string name) const {
  Axis rows = axis(std::move(name), tokens);
  rows.batch = sentences;
  return rows;
}

Axis ModelInput::words(std::string name) const {
  return axis(std::move(name), sentences == 1 ? tokens : std::vector<std::string>());
}

LiveWords::LiveWords(const ModelInput& words)
    : ids_(std::make_shared<Matrix>(Shape{words.ids.size(), 1})),
      blanks_(std::make_shared<std::vector<bool>>(words.blank)) {
  exchange(words);
}

void LiveWords::exchange(const ModelInput& words) {
  if (words.ids.size() != ids_->size() || words.blank.size() != blanks_->size())
    throw std::logic_error("words are exchanged for another number of words");
  std::ranges::transform(words.ids, cells(*ids_).begin(), [](std::size_t id) { return static_cast<double>(id); });
  *blanks_ = words.blank;
}

// --- vocabulary

std::size_t id_in(const Vocabulary& vocabulary, std::string_view word) {
  const auto found = std::ranges::find(vocabulary, word);
  return found == vocabulary.end() ? 0 : static_cast<std::size_t>(found - vocabulary.begin()) + 1;
}

Vocabulary token_ids(std::size_t count) {
  Vocabulary ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = std::to_string(i);
  return ids;
}

bool are_token_ids(const Vocabulary& vocabulary) {
  return !vocabulary.empty() && vocabulary == token_ids(vocabulary.size());
}

Vocabulary with_new_words(Vocabulary vocabulary, const std::vector<std::string>& words) {
  std::unordered_set<std::string> known(vocabulary.begin(), vocabulary.end());
  for (const std::string& word : words) {
    if (known.insert(word).second) vocabulary.push_back(word);
  }
  return vocabulary;
}

}  // namespace attn
