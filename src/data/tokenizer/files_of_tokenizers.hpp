#pragma once

#include <string_view>

namespace attn {

/// The files that have a tokenizer, in the order in which they are looked for in a folder.
inline constexpr std::string_view files_of_tokenizers =
    "tokenizer.json, vocab.json with merges.txt, vocab.txt, tokenizer.model, tokenizer.bin of llama2.c, or a .gguf file";

}  // namespace attn
