#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "data/tokenizer/aligned_text.hpp"
#include "data/tokenizer/settings.hpp"

namespace attn {

/// Splits a text, and hands on its parts one after the other: none that is empty.
using TakeText = std::function<void(AlignedText part)>;
using PreTokenize = std::function<void(AlignedText text, const TakeText& take)>;

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
