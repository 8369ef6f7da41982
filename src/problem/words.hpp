#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/masks.hpp"

namespace attn {

/// Splits a sentence at spaces and punctuation; each sign of punctuation is a word of its own. Apostrophes
/// and hyphens inside words and points inside numbers stay ("didn't", "3.5"), and so does a word in angle
/// brackets
/// ("<blank>"). Throws InputError: no words, not UTF-8.
std::vector<std::string> split_words(std::string_view text);

/// Fills the shorter sentences of a batch with blanks up to the longest.
void pad_with_blanks(std::vector<std::vector<std::string>>& sentences);

}  // namespace attn
