#include "command/model/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problem/words.hpp"
#include "support/error.hpp"

namespace attn {

std::vector<std::string> sentence(const AskedWords& asked, const Side& side) {
  std::vector<std::string> words;
  if (const auto n = asked.arguments.count(option::n)) {
    for (std::size_t i = 1; i <= *n; ++i) words.push_back(fmt::format("w{}", i));
    return words;
  }
  const std::string& told = asked.told.*side.told;
  const std::string usual = told.empty() ? std::string(side.usual) : told;
  words = split_words(asked.arguments.text(side.sentence).value_or(usual));
  if (words.size() > most_words) {
    fail("{} has {} words: give at most {}", side.sentence.name, words.size(), most_words);
  }
  return words;
}

bool is_told(const AskedWords& asked, const Side& side) {
  return asked.arguments.has(side.sentence) ||
         (!asked.arguments.has(option::n) && !(asked.told.*side.told).empty());
}

std::vector<std::string> own_words(const KnownWords& known) {
  std::vector<std::string> own;
  for (const std::string& word : known.vocabulary) {
    if (word != start_word && word != end_word && word != blank) own.push_back(word);
  }
  if (!known.vocabulary.empty()) return own;
  for (std::size_t id = 1; id <= std::min(known.rows, most_words); ++id) own.push_back(std::to_string(id));
  return own;
}

}  // namespace attn
