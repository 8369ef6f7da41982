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
};

/// Adds the special tokens that a model expects around a text, and says where pieces with spaces begin and end.
using PostProcess = std::function<void(std::vector<EncodedPiece>& pieces, bool with_special)>;

/// The post-processor of a tokenizer.json. Throws InputError: a type that is not read.
PostProcess read_post_processor(const TokenizerSettings& settings);

// The kinds that other files have, too.
PostProcess trim_spaces_of_pieces(bool prepends_space);
/// Special tokens before and behind a text.
PostProcess put_around(std::vector<EncodedPiece> before, std::vector<EncodedPiece> behind);
PostProcess process_in_sequence(std::vector<PostProcess> all);

}  // namespace attn
