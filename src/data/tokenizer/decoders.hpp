#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/tokenizer/settings.hpp"

namespace attn {

/// Makes the texts of pieces to parts of a text, which need not be UTF-8 by themselves.
using Decode = std::function<std::vector<std::string>(std::vector<std::string> pieces)>;

/// The decoder of a tokenizer.json. Throws InputError: a type that is not read.
Decode read_decoder(const TokenizerSettings& settings);

// The kinds that other files have, too.
Decode decode_byte_level();
Decode decode_word_pieces(std::string inner_prefix, bool tidies);
/// As sentencepiece does: bytes, then ▁ as spaces, and without the one that begins a text, where one was put there.
Decode decode_sentence_pieces(bool drops_first_space);

}  // namespace attn
