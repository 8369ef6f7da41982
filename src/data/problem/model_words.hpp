#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/masks.hpp"
#include "core/model/transformer.hpp"
#include "data/tokenizer/tokenizer.hpp"

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

/// How a sentence becomes the words of a model.
struct ModelWords {
  std::shared_ptr<const Tokenizer> tokenizer = {};       // whose pieces are the words; null: split_words() gives them
  std::shared_ptr<const Vocabulary> pieces = {};         // of a tokenizer: what each id is called
  std::string start{start_word};                         // of what is written
  std::vector<std::string> ends{std::string(end_word)};  // of a sentence: any of them
  std::string unread = {};   // what the model has in place of a tokenizer: "a tokenizer of the kind …"
  bool begins_alone = true;  // what is written has the tokenizer's special tokens, and not only its start

  const std::string& end() const { return ends.front(); }
  /// Whether a source in words of this vocabulary is to end with end(): a tokenizer puts it there itself, and ids are a
  /// whole text, with the end that they are to have.
  bool ends_source(const Vocabulary& vocabulary) const;
  /// The ids of the ends that a vocabulary has.
  std::vector<std::size_t> ends_in(const Vocabulary& vocabulary) const;
  /// The words of a text. A tokenizer adds the special tokens that it has for a whole one, where these are asked for.
  /// Throws InputError: not UTF-8, no words.
  std::vector<std::string> of(std::string_view text, bool with_special) const;
  /// How many characters of a text none of its words stands for, beside spaces.
  std::size_t left_out_of(std::string_view text) const;
  /// The words of two texts that go in as one, and of each which text it belongs to, from 0, as the model is told it.
  /// Throws likewise, and where a tokenizer does not say how they are put together.
  struct Pair {
    std::vector<std::string> words;
    std::vector<std::size_t> types;
  };
  Pair of_pair(std::string_view first, std::string_view second) const;
  /// The text that some words of a vocabulary stand for, by their ids from 1.
  std::string text_of(const std::vector<std::size_t>& ids, const std::vector<std::string>& vocabulary) const;
};

/// The pieces of a tokenizer as the words of a model that has so many embeddings, each called otherwise: by its text,
/// or where it has none, or another piece has the same, by its id in angle brackets. Throws InputError where the
/// tokenizer has more.
ModelWords words_of_tokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::size_t count, const std::string& where);

/// Whether two texts can go into a model as one: it tells them apart, or its tokenizer puts them together.
bool may_have_pair(const Transformer& model, const ModelWords& words);

/// Two texts as they go into its encoder. Throws InputError: words that it does not know, or more than it has
/// positions.
ModelInput input_of_pair(const std::string& first, const std::string& second, const Transformer& model,
                         const ModelWords& words);

/// Words as they go into a side of a model, with their ids in its vocabulary. Throws InputError, with the nearest
/// word, for one that it does not have.
ModelInput input_of(const std::vector<std::string>& words, const Vocabulary& vocabulary);

}  // namespace attn
