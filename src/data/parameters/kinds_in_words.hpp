#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "data/tokenizer/files_of_tokenizers.hpp"

namespace attn {

/// What parameters are read from, as help says it, and whether it is a model or gives parameters alone.
struct KindInWords {
  std::string_view words;
  std::string_view kind;  // of parameter_kinds(); empty: several
  bool is_model, is_parameters;
};
inline constexpr KindInWords kinds_in_words[] = {
    {"a folder with config.json", "", true, false},
    {"a folder", "", false, true},
    {".safetensors that attn train saved", "safetensors", true, false},
    {".safetensors", "safetensors", false, true},
    {".pt or .bin of PyTorch", "pt", false, true},
    {".gguf", "gguf", true, false},
    {".bin of llama2.c", "llama2.c", true, false},
    {".npz", "npz", false, true},
    {".json", "json", true, true},
};

/// A text that is put together at compile time.
struct ShortText {
  std::array<char, 300> chars{};
  std::size_t size = 0;

  constexpr void add(std::string_view more) {
    for (const char c : more) chars.at(size++) = c;
  }
  constexpr std::string_view text() const { return {chars.data(), size}; }
};

/// "BEGIN: a, b or c", of the kinds that are taken.
constexpr ShortText with_kinds(std::string_view begin, bool KindInWords::*is_taken) {
  ShortText text;
  text.add(begin);
  std::size_t last = 0;
  for (std::size_t i = 0; i < std::size(kinds_in_words); ++i) last = kinds_in_words[i].*is_taken ? i : last;
  std::string_view between = ": ";
  for (std::size_t i = 0; i < std::size(kinds_in_words); ++i) {
    if (!(kinds_in_words[i].*is_taken)) continue;
    text.add(i == last ? " or " : between);
    text.add(kinds_in_words[i].words);
    between = ", ";
  }
  return text;
}

/// Help of options that read them.
namespace help_of_files {
inline constexpr ShortText model = with_kinds("name of a built-in model, or a model on disk", &KindInWords::is_model),
                           parameters = with_kinds("parameters of a model", &KindInWords::is_parameters),
                           attention = with_kinds("w_q … b_o, or those of PyTorch's nn.MultiheadAttention",
                                                  &KindInWords::is_parameters),
                           tokenizer = [] {
                             ShortText text;
                             text.add("folder or file of a tokenizer: ");
                             text.add(files_of_tokenizers);
                             return text;
                           }();
}  // namespace help_of_files

}  // namespace attn
