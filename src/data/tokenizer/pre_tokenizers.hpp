#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
/// At what each of these expressions matches, one after the other; then bytes become signs. Throws InputError as
/// parts_by_expression() does.
PreTokenize split_by_expressions(std::span<const std::string_view> expressions, const std::string& where);

/// The expression that splits words in GPT-2 (Radford et al. 2019).
inline constexpr std::string_view expression_of_gpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace attn
