#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/files_of_tokenizers.hpp"

namespace attn {

/// A piece of a text, as a model sees it.
struct Token {
  std::size_t id = 0;              // as the tokenizer's files count: from 0
  std::string_view text = {};      // as in the vocabulary: "Ġthe"; as long as the tokenizer lives
  std::size_t begin = 0, end = 0;  // bytes of the text that it stands for; equal: none
  bool is_special = false;         // such as a start token: no part of a text
  std::size_t type = 0;            // of a pair: as which of its texts the model is told the piece
};

/// One step on the way from a word to its pieces.
struct CuttingStep {
  std::vector<std::size_t> pieces = {};   // ids, as they are after it
  std::optional<std::size_t> rank = {};   // BPE: of the merge that was made, from 1
  std::optional<std::size_t> made = {};   // BPE: the place in `pieces` of the one that was merged
  std::optional<double> score = {};       // unigram: the log-probability of this segmentation
  std::optional<std::size_t> tried = {};  // WordPiece: how many pieces were looked up for the last one
};

/// A part of a text that is cut into pieces by itself.
struct WordOfText {
  std::string_view text = {};      // normalized, as it is looked up; until the next word
  std::size_t begin = 0, end = 0;  // bytes of the text that it stands for
  bool is_added = false;           // a token that was added to the vocabulary: it is found before all else
};

/// The same with its pieces.
struct CutWord {
  std::string text = {};
  std::size_t begin = 0, end = 0;
  bool is_added = false;
  std::vector<Token> pieces = {};
};

/// Takes what a text is cut into, as it is cut: each word, and then its pieces. Special tokens around the text come
/// before the first word, and once the words have ended.
struct TakeCut {
  std::function<void(const Token& piece)> piece = [](const Token&) {};
  std::function<void(const WordOfText& word)> word = [](const WordOfText&) {};
  std::function<void()> words_end = [] {};
};

inline constexpr std::size_t most_bytes_with_steps = 2000;

/// What cuts a text into pieces that have ids. What it takes is counted as work (Budget::take_reading).
class Tokenizer {
 public:
  virtual ~Tokenizer();
  /// Hands on the pieces of a text, with the special tokens that its model expects around it, or without them. Of a
  /// long text they never stand in memory together. Throws InputError: the text is not UTF-8, or
  /// takes more work than it may.
  virtual void put_pieces(std::string_view text, bool with_special, const TakeCut& take) const = 0;
  /// The pieces of a text.
  std::vector<Token> encode(std::string_view text, bool with_special = true) const;
  /// The words of a text, without special tokens around it.
  std::vector<CutWord> cut(std::string_view text) const;
  /// The pieces of two texts, with the special tokens that its model expects around and between them. Throws
  /// InputError: a text is not UTF-8, or pairs are not told how.
  virtual std::vector<Token> encode_pair(std::string_view first, std::string_view second) const = 0;
  /// The text that the pieces stand for; special ones are written, too. Throws InputError: an id beyond the vocabulary.
  virtual std::string decode(std::span<const std::size_t> ids) const = 0;
  /// How many ids there are: the largest + 1.
  virtual std::size_t size() const = 0;
  /// The text of an id; empty: no piece has it.
  virtual std::string_view piece(std::size_t id) const = 0;
  virtual bool is_special(std::size_t id) const = 0;
  /// "byte-level BPE", "BPE with byte fallback", "BPE", "unigram" or "WordPiece".
  virtual std::string_view kind() const = 0;
  /// The steps on the way from a word to its pieces; none of an added token. All of them together grow with the square
  /// of the word. Throws InputError: a word of more than most_bytes_with_steps.
  virtual std::vector<CuttingStep> steps(const CutWord& word) const = 0;
  /// Its tokenizer.json, where it was learned, or was to be kept; empty: it was read.
  virtual std::string_view written() const = 0;
};

/// The tokenizer that lies in a folder (the first of files_of_tokenizers), or null where there is none; or that of one
/// file. Throws InputError with the file and the way out.
std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& folder_or_file);

/// The same of what ‹tokenizer› gives. Throws InputError where nothing is there, too.
std::shared_ptr<const Tokenizer> given_tokenizer(const std::string& folder_or_file);

/// The tokenizer that belongs to a model.
struct ModelTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer = {};  // null: there is none
  std::string where = {};                           // its file or folder
  std::string unread = {};                          // what is there in its place: "a tokenizer of the kind …"
};

/// That of the model in a folder or a file: what lies in the folder, what a .gguf file has, or the tokenizer.bin beside
/// a file of llama2.c, if it is one of as many pieces. Throws InputError as read_tokenizer() does.
ModelTokenizer tokenizer_of_model(const std::string& path);

/// The tokenizer of the text of a tokenizer.json, which it may keep, to be written again. Throws InputError, which
/// names `where`.
enum class KeptText { no, yes };
std::shared_ptr<const Tokenizer> tokenizer_from_json(std::string_view bytes, const std::string& where,
                                                     KeptText kept = KeptText::no);

/// A byte-level BPE that was learned from a text (Sennrich et al. 2016): 256 bytes, and merges of the pair that occurs
/// most often, until there are `size` pieces or no pair occurs twice. Words are cut as in GPT-2 (Radford et al. 2019).
/// The same text gives the same tokenizer. Throws InputError: a text that is not UTF-8, or a size below 257.
struct LearnedMerge {
  std::size_t left, right, made;  // ids
  std::size_t count;              // how often the pair occurred
};
std::shared_ptr<const Tokenizer> learn_bpe(std::string_view text, std::size_t size,
                                           std::vector<LearnedMerge>* merges = nullptr);

/// The tokenizer.json of a tokenizer that was learned, which read_tokenizer() reads. Throws InputError: it was read.
std::string write_tokenizer(const Tokenizer& learned);

/// The text of a piece where people read it: "Ġthe" is "␣the". A space is ␣, an end of line ⏎, a tab ⇥; characters that
/// are not printed are told by their numbers: "<U+0000>". A byte of a character is told so: "<0xE2>".
std::string shown_piece(const Tokenizer& tokenizer, std::size_t id);
/// The same for a word of CutWord, and for a text that is not a piece of a vocabulary.
std::string shown_word(const Tokenizer& tokenizer, std::string_view word);
std::string shown_text(std::string_view text);

}  // namespace attn
