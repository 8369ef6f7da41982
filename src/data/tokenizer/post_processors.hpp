#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/settings.hpp"
#include "data/tokenizer/tokenizer.hpp"

namespace attn {

/// A token that stands around texts, as the vocabulary should have it.
struct SpecialToken {
  std::size_t id = 0;
  std::string text = {};
};

/// A place in a template of a pair: tokens, or one of the texts, and the type of its pieces.
struct PlaceInPair {
  std::vector<SpecialToken> tokens = {};
  std::optional<std::size_t> text = {};  // 0 or 1
  std::size_t type = 0;
};

/// Lets a piece begin behind its spaces, and end before them.
struct SpaceTrim {
  bool prepends_space = false;   // one before a text stands for nothing in it
  bool is_behind_token = false;  // no piece of the text is the first, where special tokens stand before it

  /// `text` is that of the piece, and `original` the text of which it stands for a part.
  void trim(Token& piece, std::string_view text, bool is_first, std::string_view original) const;
};

/// Adds the special tokens that a model expects around a text, and says where pieces with spaces begin and end.
struct PostProcess {
  std::vector<SpecialToken> before = {}, behind = {};
  std::vector<SpaceTrim> trims = {};      // one after the other
  std::vector<PlaceInPair> of_pair = {};  // two texts as one; empty: it is not told how
};

/// The post-processor of a tokenizer.json. Throws InputError: a type that is not read.
PostProcess read_post_processor(const TokenizerSettings& settings);

// The kinds that other files have, too.
PostProcess trim_spaces_of_pieces(bool prepends_space);
/// Special tokens before and behind a text.
PostProcess put_around(std::vector<SpecialToken> before, std::vector<SpecialToken> behind);
/// cls, a text, sep; and of a pair cls, the first, sep, the second, sep, as BERT has them: the second of the second
/// type. RoBERTa has two sep between them, and one type.
PostProcess put_around_as_bert(const SpecialToken& cls, const SpecialToken& sep);
PostProcess put_around_as_roberta(const SpecialToken& cls, const SpecialToken& sep);
PostProcess process_in_sequence(const std::vector<PostProcess>& all);

}  // namespace attn
