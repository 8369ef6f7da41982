#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/aligned_text.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/vocabulary.hpp"

namespace attn {

/// A piece of a word, by its id, and the bytes of the word for which it stands.
struct WordPart {
  std::size_t id;
  ByteRange range;
};

/// What cuts a word into pieces.
class WordModel {
 public:
  explicit WordModel(PieceVocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~WordModel() = default;
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;

  virtual std::vector<WordPart> cut(std::string_view word) const = 0;
  /// Hands the pieces on, one after the other: for words that are long.
  virtual void put_pieces(std::string_view word, const std::function<void(const WordPart&)>& take) const {
    for (const WordPart& piece : cut(word)) take(piece);
  }
  /// Hands on the parts of a word that can be cut one by one, in order: their pieces are those of the word.
  virtual void put_parts(std::string_view word, const std::function<void(ByteRange)>& take) const {
    take({0, word.size()});
  }
  /// The steps on the way there.
  virtual std::vector<CuttingStep> steps(std::string_view word) const = 0;
  virtual std::string_view kind() const = 0;
  const PieceVocabulary& vocabulary() const { return vocabulary_; }

 private:
  PieceVocabulary vocabulary_;
};

/// Two pieces that are merged, and the row of the file that says so, from 0. Several may have the same rank.
struct MergeEntry {
  std::string left, right;
  std::size_t rank;
};
/// Of a text such as "th e"; nothing: it is not two pieces.
std::optional<MergeEntry> merge_in(std::string_view text, std::size_t rank);

struct BpeSettings {
  std::optional<std::string> unknown = {};  // the piece in place of characters that the vocabulary does not have
  bool fuses_unknown = false;               // several in a row are one
  bool falls_back_to_bytes = false;         // "<0xE2>" in place of such characters
  bool ignores_merges = false;              // a word that is in the vocabulary is not cut
  std::string inner_prefix = {};            // before characters that do not begin a word
  std::string end_suffix = {};              // behind the last one
  bool is_of_bytes = false;                 // its characters stand for bytes
};

// The kinds. Throw InputError, which names `where`.

/// Byte-pair encoding (Sennrich et al. 2016): the merge of lowest rank first, and of equal ones the leftmost.
std::unique_ptr<WordModel> make_bpe(PieceVocabulary vocabulary, std::vector<MergeEntry> merges, BpeSettings settings,
                                    const std::string& where);

/// The most probable segmentation (Kudo 2018). Scores are log-probabilities, by id; a piece with −∞ is in no text. An
/// unknown character has the lowest score − 10; several in a row are one piece.
std::unique_ptr<WordModel> make_unigram(PieceVocabulary vocabulary, std::vector<double> scores,
                                        std::optional<std::size_t> unknown, bool falls_back_to_bytes,
                                        const std::string& where);

/// The longest piece first (Devlin et al. 2019), with a prefix inside of words; a word that cannot be cut, or has more
/// characters than `longest`, is unknown as a whole.
std::unique_ptr<WordModel> make_word_piece(PieceVocabulary vocabulary, const std::string& unknown,
                                           const std::string& inner_prefix, std::size_t longest,
                                           const std::string& where);

/// The piece of a byte: "<0xE2>".
std::string piece_of_byte(unsigned char byte);
/// The byte of such a piece; nothing: it is none.
std::optional<unsigned char> byte_of_piece(std::string_view piece);

}  // namespace attn
