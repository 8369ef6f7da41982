#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/tokenizer/settings.hpp"

namespace attn {

/// A piece of a text before it is given out.
struct EncodedPiece {
  std::size_t id = 0;
  std::size_t begin = 0, end = 0;  // characters of the text; equal: none
  std::string text = {};           // as in the vocabulary; of an added token as in the text
  bool is_special = false;
  std::size_t type = 0;     // of a pair: as which of its texts the model is told it
  std::size_t of_text = 0;  // of a pair: the one that it is a piece of
};

/// Adds the special tokens that a model expects around a text, and says where pieces with spaces begin and end.
struct PostProcess {
  std::function<void(std::vector<EncodedPiece>& pieces, bool with_special)> of_one = {};  // empty: nothing
  /// The same of two texts, as one; empty: it is not told how.
  std::function<std::vector<EncodedPiece>(std::vector<EncodedPiece> first, std::vector<EncodedPiece> second)> of_pair =
      {};
};

/// The post-processor of a tokenizer.json. Throws InputError: a type that is not read.
PostProcess read_post_processor(const TokenizerSettings& settings);

// The kinds that other files have, too.
PostProcess trim_spaces_of_pieces(bool prepends_space);
/// Special tokens before and behind a text.
PostProcess put_around(std::vector<EncodedPiece> before, std::vector<EncodedPiece> behind);
/// cls, a text, sep; and of a pair cls, the first, sep, the second, sep, as BERT has them: the second of the second
/// type. RoBERTa has two sep between them, and one type.
PostProcess put_around_as_bert(const EncodedPiece& cls, const EncodedPiece& sep);
PostProcess put_around_as_roberta(const EncodedPiece& cls, const EncodedPiece& sep);
PostProcess process_in_sequence(std::vector<PostProcess> all);

}  // namespace attn
