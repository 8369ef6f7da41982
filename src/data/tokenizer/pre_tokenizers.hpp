#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/tokenizer/aligned.hpp"
#include "data/tokenizer/settings.hpp"

namespace attn {

/// A part of a text that is cut by itself; or that is a token which was added to the vocabulary, with its id.
struct TextPart {
  AlignedText text;
  std::optional<std::size_t> added = {};
};

/// Splits the parts of a text further. Added tokens stay.
using PreTokenize = std::function<void(std::vector<TextPart>& parts)>;

/// The pre-tokenizer of a tokenizer.json. Throws InputError: a type that is not read.
PreTokenize read_pre_tokenizer(const TokenizerSettings& settings);

// The kinds that other files have, too.
PreTokenize split_as_gpt2(bool prepends_space);
PreTokenize split_as_bert();

/// The expression that splits words in GPT-2 (Radford et al. 2019).
extern const std::string expression_of_gpt2;

}  // namespace attn
