// Files of tokenizers, and texts that are cut by them.

#include <array>

#include "core/support/error.hpp"
#include "data/tokenizer/sentence_piece.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/tokenizers_of_models.hpp"
#include "fuzz.hpp"

namespace attn::fuzz {
namespace {

// What is true of every text that was cut: each piece has an id of the vocabulary, and stands for bytes of the text.
void check_cut(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::size_t> ids;
  for (const Token& piece : tokenizer.encode(text)) {
    require(piece.id < tokenizer.size(), "an id is below the number of ids");
    require(piece.begin <= text.size() && piece.end <= text.size(), "a piece stands for bytes of the text");
    ids.push_back(piece.id);
    shown_piece(tokenizer, piece.id);
  }
  try {
    for (const Token& piece : tokenizer.encode_pair(text, text))
      require(piece.id < tokenizer.size() && piece.end <= text.size(), "an id of a pair is below the number of ids");
  } catch (const InputError&) {  // it does not say how
  }
  must("ids of pieces are decoded", [&] { return tokenizer.decode(ids); });
  for (const CutWord& word : tokenizer.cut(text)) {
    if (word.text.size() <= most_bytes_with_steps) tokenizer.steps(word);
  }
}

constexpr std::array texts_to_cut = {std::string_view("The dog's 12 naïve  cafés\n\t<s> \U0001F600 ไทย"),
                                     std::string_view("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")};

void tokenizer_json(std::string_view bytes) {
  const Budget budget(of_case);
  const auto tokenizer = tokenizer_from_json(bytes, "case");
  for (const std::string_view text : texts_to_cut) check_cut(*tokenizer, text);
}

void sentence_piece(std::string_view bytes) {
  const Budget budget(of_case);
  const auto tokenizer = read_sentence_piece(bytes, {.has_start = true}, "case");
  for (const std::string_view text : texts_to_cut) check_cut(*tokenizer, text);
}

// A file of a model, of which only the words are looked at.
void gguf_words(std::string_view bytes) {
  const Budget budget(of_case);
  const ModelTokenizer found = tokenizer_in_gguf(read_gguf(bytes, "case"), "case");
  if (!found.tokenizer) return;
  for (const std::string_view text : texts_to_cut) check_cut(*found.tokenizer, text);
}

void llama2c_words(std::string_view bytes) {
  const Budget budget(of_case);
  const auto tokenizer = read_llama2c_tokenizer(bytes, "case");
  for (const std::string_view text : texts_to_cut) check_cut(*tokenizer, text);
}

// A text is cut by what was learned from it, and comes back.
void text_to_cut(std::string_view bytes) {
  const Budget budget(of_case);
  const auto learned = learn_bpe(bytes, 300);
  check_cut(*learned, bytes);
  std::vector<std::size_t> ids;
  for (const Token& piece : learned->encode(bytes)) ids.push_back(piece.id);
  require(learned->decode(ids) == bytes, "the pieces of a text are the text");
}

constexpr std::array table = {Target{"tokenizer", tokenizer_json}, Target{"sentence-piece", sentence_piece},
                              Target{"gguf-words", gguf_words}, Target{"llama2c-words", llama2c_words},
                              Target{"text-to-cut", text_to_cut}};

}  // namespace

std::span<const Target> tokenizers() { return table; }

}  // namespace attn::fuzz
