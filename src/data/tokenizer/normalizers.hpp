#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/aligned_text.hpp"
#include "data/tokenizer/settings.hpp"

namespace attn {

/// Changes a text before it is cut.
using Normalize = std::function<void(AlignedText& text)>;

/// The normalizer of a tokenizer.json. Throws InputError: a type that is not read.
Normalize read_normalizer(const TokenizerSettings& settings);

/// One after the other.
Normalize in_sequence(std::vector<Normalize> all);

// The kinds that other files have, too.
Normalize normalize_as_bert(bool cleans, bool separates_chinese, bool strips_accents, bool lowers);
Normalize prepend_text(std::string what);
Normalize replace_text(std::string what, std::string by);
/// Runs of spaces become one, and those at the edges none.
Normalize remove_extra_spaces();
/// Characters and their marks become one, where there is such a one (NFC).
void compose_characters(AlignedText& text);
/// Each byte as its sign.
void write_bytes_as_signs(AlignedText& text);

/// How characters are replaced in files of sentencepiece: a double-array trie, and the replacements. Throws InputError:
/// it is broken off.
enum class CharsmapUse { as_tokenizers /* a grapheme or a character */, as_sentencepiece /* the longest match */ };
Normalize normalize_by_charsmap(std::string_view bytes, CharsmapUse use, const std::string& where);

}  // namespace attn
