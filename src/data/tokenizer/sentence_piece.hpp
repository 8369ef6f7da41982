#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/vocabulary.hpp"

namespace attn {

/// Which special tokens stand around a text. Files of sentencepiece do not say it.
struct TextEnds {
  bool has_start = false, has_end = false;
};

/// What a piece is, by its number in the files (sentencepiece_model.proto; llama.cpp, llama_token_type).
enum class PieceType : std::uint64_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// What such a file says, whichever way it is written. Its texts are parts of the file.
struct SentencePieceModel {
  std::vector<VocabularyEntry> pieces = {};  // the id of each is its place
  std::vector<PieceType> types = {};
  std::uint64_t kind = 1;  // 1: unigram, 2: BPE
  bool falls_back_to_bytes = false;
  std::uint64_t start = 1, end = 2;  // ids
  std::string_view charsmap = {};
  bool prepends_space = true, removes_extra_spaces = true, escapes_spaces = true, puts_space_behind = false;
  bool finds_special = false;  // texts of special tokens are these tokens, and are found before all else
};

/// Throws InputError, which names `where`: kinds that are not read, or no piece for what is unknown.
std::shared_ptr<const Tokenizer> make_sentence_piece(const SentencePieceModel& model, TextEnds ends,
                                                     const std::string& where);

/// The tokenizer of a file of sentencepiece (Kudo and Richardson 2018): unigram or BPE. Throws InputError, which names
/// `where`.
std::shared_ptr<const Tokenizer> read_sentence_piece(std::string_view bytes, TextEnds ends, const std::string& where);

}  // namespace attn
