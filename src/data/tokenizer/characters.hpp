#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer.hpp"

namespace attn {

/// The characters of a text in UTF-8, each as its bytes. Throws InputError, with the place, for what is not UTF-8.
std::vector<std::string_view> characters_in(std::string_view text, std::string_view where);

/// A tokenizer whose pieces are characters: those of a text, sorted, each once. It cuts no text that has others.
std::shared_ptr<const Tokenizer> character_tokenizer(std::string_view text, std::string_view where);

}  // namespace attn
