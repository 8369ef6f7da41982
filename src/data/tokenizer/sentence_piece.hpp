#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/tokenizer/tokenizer.hpp"

namespace attn {

/// Which special tokens stand around a text. Files of sentencepiece do not say it.
struct TextEnds {
  bool has_start = false, has_end = false;
};

/// The tokenizer of a file of sentencepiece (Kudo and Richardson 2018): unigram or BPE. Throws InputError, which names
/// `where`.
std::shared_ptr<const Tokenizer> read_sentence_piece(std::string_view bytes, TextEnds ends, const std::string& where);

}  // namespace attn
