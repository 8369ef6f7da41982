#include "problem/model_words.hpp"

#include "problem/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

std::size_t id_of(const std::string& word, const Vocabulary& vocabulary, std::size_t rows) {
  if (!vocabulary.empty()) {
    const std::size_t id = id_in(vocabulary, word);
    if (id == 0) fail_unknown("word", word, vocabulary);
    return id;
  }
  const std::optional<std::size_t> id = parsed<std::size_t>(word);
  if (!id || *id < 1 || *id > rows) {
    fail("'{}' is not a word of this model. Its words are the numbers from 1 to {}", word, rows);
  }
  return *id;
}

}  // namespace

// Nobody looks at a blank: any id does for one that the model does not know.
ModelInput input_of(const std::vector<std::string>& words, const Vocabulary& vocabulary, std::size_t rows) {
  ModelInput input{.tokens = words, .blank = blanks_among(words)};
  for (const std::string& word : words) {
    const bool unknown_blank = word == blank && id_in(vocabulary, word) == 0;
    input.ids.push_back(unknown_blank ? 1 : id_of(word, vocabulary, rows));
  }
  return input;
}

}  // namespace attn
