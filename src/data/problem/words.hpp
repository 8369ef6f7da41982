#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/masks.hpp"
#include "core/model/transformer.hpp"

namespace attn {

/// Splits a sentence at spaces and punctuation; each sign of punctuation is a word of its own. Apostrophes
/// and hyphens inside words and points inside numbers stay ("didn't", "3.5"), and so does a word in angle
/// brackets
/// ("<blank>"). Throws InputError: no words, not UTF-8.
std::vector<std::string> split_words(std::string_view text);

/// Fills the shorter sentences of a batch with blanks up to the longest.
void pad_with_blanks(std::vector<std::vector<std::string>>& sentences);

/// A problem file under lessons/examples, compiled in. The first one is the default.
struct Example {
  std::string_view name;
  std::string_view json;
};

std::span<const Example> examples();

/// Words as they go into a side of a model, with their ids in its vocabulary. Throws InputError, with the nearest
/// word, for one that it does not have.
ModelInput input_of(const std::vector<std::string>& words, const Vocabulary& vocabulary);

}  // namespace attn
