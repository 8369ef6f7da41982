#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/decoders.hpp"
#include "data/tokenizer/normalizers.hpp"
#include "data/tokenizer/post_processors.hpp"
#include "data/tokenizer/pre_tokenizers.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/word_model.hpp"

namespace attn {

/// A token that was added to a vocabulary. It is found in a text before all else.
struct AddedToken {
  std::string text = {};
  std::size_t id = 0;
  bool is_special = false;
  bool is_normalized = false;   // it is looked for once the text is normalized, and is normalized as well
  bool is_single_word = false;  // no letter stands before or behind it
  bool strips_left = false, strips_right = false;  // it takes the spaces there
  bool is_in_normalized = false;                   // it is looked for once the text is normalized, as it is
  bool is_in_texts = true;                         // or it only stands around them
};

/// What a tokenizer is made of, in the order in which a text passes through it. What is empty changes nothing.
struct TokenizerParts {
  std::vector<AddedToken> added = {};
  Normalize normalize = {};
  PreTokenize pre_tokenize = {};
  std::unique_ptr<const WordModel> model = {};
  PostProcess post_process = {};
  Decode decode = {};        // empty: pieces with a space between
  std::string written = {};  // its tokenizer.json, where it was learned
};

/// Throws InputError, which names `where`: an added token, or one that is put around texts,
/// contradicts the vocabulary, or another.
std::shared_ptr<const Tokenizer> make_tokenizer(TokenizerParts parts, const std::string& where);

}  // namespace attn
