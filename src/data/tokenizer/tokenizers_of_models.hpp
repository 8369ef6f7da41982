#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/files/gguf.hpp"
#include "data/tokenizer/tokenizer.hpp"

namespace attn {

/// The tokenizer in the metadata of a .gguf file (ggml-org/ggml, docs/gguf.md): byte-level BPE with one of the
/// expressions that are known, or BPE with scores. Where it is of another kind, `unread` says so. Throws InputError,
/// which names `where`: what the metadata say contradicts itself.
ModelTokenizer tokenizer_in_gguf(const GgufFile& file, const std::string& where);

/// That of a tokenizer.bin of llama2.c (export in its tokenizer.py): a BPE with scores. Throws InputError, which names
/// `where`.
std::shared_ptr<const Tokenizer> read_llama2c_tokenizer(std::string_view bytes, const std::string& where);

}  // namespace attn
