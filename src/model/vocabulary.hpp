#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The words that a model knows; a word's id is its place, from 1.
using Vocabulary = std::vector<std::string>;

/// The words before the first and after the last word of a sentence.
constexpr std::string_view start_word = "<start>";
constexpr std::string_view end_word = "<end>";

/// The id of a word, or 0 where the vocabulary does not have it.
std::size_t id_in(const Vocabulary& vocabulary, std::string_view word);

/// The vocabulary, and behind it those of the words that it does not have yet.
Vocabulary with_new_words(Vocabulary vocabulary, const std::vector<std::string>& words);

}  // namespace attn
