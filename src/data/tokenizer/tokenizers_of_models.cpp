#include "data/tokenizer/tokenizers_of_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/tokenizer/pipeline.hpp"
#include "data/tokenizer/sentence_piece.hpp"

namespace attn {
namespace {

// --- the metadata of a .gguf file

// What they say of the tokenizer.
class GgufWords {
 public:
  GgufWords(const GgufFile& file, const std::string& where) : file_(file), where_(where) {
    if (std::optional<std::vector<std::string_view>> tokens = texts("tokens")) tokens_ = std::move(*tokens);
  }

  const std::string& where() const { return where_; }
  const std::vector<std::string_view>& tokens() const { return tokens_; }

  bool has(std::string_view name) const { return find(name) != nullptr; }

  std::optional<std::string_view> text(std::string_view name) const {
    const GgufValue* const value = find(name);
    if (!value) return std::nullopt;
    if (const auto* const text = std::get_if<std::string_view>(value)) return *text;
    refuse(name, "must be a text");
  }

  std::optional<bool> flag(std::string_view name) const {
    const GgufValue* const value = find(name);
    if (!value) return std::nullopt;
    if (const bool* const flag = std::get_if<bool>(value)) return *flag;
    refuse(name, "must be true or false");
  }

  // That of a token.
  std::optional<std::size_t> id(std::string_view name) const {
    const GgufValue* const value = find(name);
    if (!value) return std::nullopt;
    const auto* const natural = std::get_if<std::uint64_t>(value);
    const auto* const whole = std::get_if<std::int64_t>(value);
    const bool is_id = natural || (whole && *whole >= 0);
    const std::uint64_t id = natural ? *natural : is_id ? static_cast<std::uint64_t>(*whole) : 0;
    if (!is_id || id >= tokens_.size())
      refuse(name, fmt::format("must be the id of a token, and there are {}", count_of(tokens_.size(), "token")));
    return id;
  }

  std::optional<std::vector<std::string_view>> texts(std::string_view name) const {
    const GgufValue* const value = find(name);
    if (!value) return std::nullopt;
    const auto* const list = std::get_if<GgufList>(value);
    std::optional<std::vector<std::string_view>> texts = list ? texts_of(*list) : std::nullopt;
    if (!texts) refuse(name, "must be a list of texts");
    return texts;
  }

  // One of each token.
  std::optional<std::vector<double>> numbers(std::string_view name) const {
    const GgufValue* const value = find(name);
    if (!value) return std::nullopt;
    const auto* const list = std::get_if<GgufList>(value);
    std::optional<std::vector<double>> numbers = list ? numbers_of(*list) : std::nullopt;
    if (!numbers) refuse(name, "must be a list of numbers");
    if (std::ranges::any_of(*numbers, [](double number) { return !std::isfinite(number); }))
      refuse(name, "must have finite numbers");
    if (numbers->size() != tokens_.size())
      refuse(name, fmt::format("has {}, and there are {}", count_of(numbers->size(), "number"),
                               count_of(tokens_.size(), "token")));
    return numbers;
  }

  // Where the file does not tell them, tokens are normal.
  std::vector<PieceType> types() const {
    std::vector<PieceType> types(tokens_.size(), PieceType::normal);
    const std::optional<std::vector<double>> numbers = this->numbers("token_type");
    for (std::size_t id = 0; numbers && id < types.size(); ++id) {
      const double number = (*numbers)[id];
      if (!(number >= 1 && number <= 6)) refuse("token_type", "must have numbers from 1 to 6");
      types[id] = static_cast<PieceType>(static_cast<std::uint64_t>(number));
    }
    return types;
  }

  // Also those that this tokenizer has no use for.
  void require_ids() const {
    for (const std::string_view name : {"bos_token_id", "eos_token_id", "unknown_token_id"}) id(name);
  }

  [[noreturn]] void refuse(std::string_view name, std::string_view what) const {
    fail("{}: tokenizer.ggml.{} {}: get the file again", where_, name, what);
  }

 private:
  const GgufValue* find(std::string_view name) const {
    const auto found = file_.metadata.find(fmt::format("tokenizer.ggml.{}", name));
    return found == file_.metadata.end() ? nullptr : &found->second;
  }

  const GgufFile& file_;
  const std::string& where_;
  std::vector<std::string_view> tokens_;
};

// --- byte-level BPE

constexpr std::string_view as_gpt2[] = {expression_of_gpt2};
constexpr std::string_view digits_apart[] = {R"(\p{N})", expression_of_gpt2};
constexpr std::string_view as_llama3[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr std::string_view as_qwen2[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr std::string_view as_tekken[] = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// How a tokenizer splits words, by its name in tokenizer.ggml.pre (llama.cpp, src/llama-vocab.cpp), and what else the
// tokenizers of this name do.
struct GgufSplit {
  std::string_view name;
  std::span<const std::string_view> expressions;
  bool composes = false;           // characters first (NFC), as their tokenizer.json says
  bool takes_whole_words = false;  // a word that is a token is not cut
  bool has_start = false;          // before each text, where the file does not say it
};
constexpr GgufSplit gguf_splits[] = {
    {"gpt-2", as_gpt2},
    {"phi-2", as_gpt2},
    {"roberta-bpe", as_gpt2},
    {"jais", as_gpt2},
    {"olmo", as_gpt2, true},
    {"mpt", as_gpt2, true},
    {"starcoder", digits_apart},
    {"refact", digits_apart},
    {"smollm", digits_apart},
    {"codeshell", digits_apart},
    {"llama-bpe", as_llama3, false, true, true},
    {"llama3", as_llama3, false, true, true},
    {"llama-v3", as_llama3, false, true, true},
    {"falcon3", as_llama3, false, true, true},
    {"dbrx", as_llama3},
    {"smaug-bpe", as_llama3},
    {"qwen2", as_qwen2, true},
    {"tekken", as_tekken, false, true, true},
};

// The token at an end of a text; none where none stands there.
std::vector<SpecialToken> end_of_texts(const GgufWords& words, bool is_there, std::string_view name) {
  if (!is_there) return {};
  const std::optional<std::size_t> id = words.id(name);
  if (!id) words.refuse(name, "is missing, and this token stands around each text");
  return {{.id = *id, .text = std::string(words.tokens()[*id])}};
}

std::shared_ptr<const Tokenizer> byte_level_of_gguf(const GgufWords& words, const GgufSplit& split) {
  const std::vector<std::string_view>& tokens = words.tokens();
  std::vector<PieceType> types = words.types();
  if (!words.has("token_type")) {
    for (const std::string_view name : {"bos_token_id", "eos_token_id"}) {
      if (const auto id = words.id(name)) types[*id] = PieceType::control;
    }
  }
  TokenizerParts parts;
  std::vector<VocabularyEntry> entries;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    entries.push_back({.piece = std::string(tokens[id]), .id = id});
    const bool is_special = types[id] == PieceType::control || types[id] == PieceType::unknown;
    if (is_special || types[id] == PieceType::user_defined)
      parts.added.push_back({.text = std::string(tokens[id]), .id = id, .is_special = is_special});
  }
  const auto texts = words.texts("merges");
  if (!texts) words.refuse("merges", "is missing");
  std::vector<MergeEntry> merges;
  for (const std::string_view text : *texts) {
    std::optional<MergeEntry> merge = merge_in(text, merges.size());
    if (!merge) words.refuse("merges", fmt::format("has '{}', which is not two pieces", shown_text(text)));
    merges.push_back(std::move(*merge));
  }
  if (split.composes) parts.normalize = compose_characters;
  parts.pre_tokenize = split_by_expressions(split.expressions, words.where());
  parts.decode = decode_byte_level();
  parts.post_process =
      put_around(end_of_texts(words, words.flag("add_bos_token").value_or(split.has_start), "bos_token_id"),
                 end_of_texts(words, words.flag("add_eos_token").value_or(false), "eos_token_id"));
  parts.model = make_bpe(PieceVocabulary(entries, words.where()), std::move(merges),
                         {.ignores_merges = split.takes_whole_words, .is_of_bytes = true}, words.where());
  return make_tokenizer(std::move(parts), words.where());
}

// --- BPE with scores

bool has_bytes(const SentencePieceModel& model) {
  return std::ranges::find(model.types, PieceType::byte) != model.types.end();
}

std::shared_ptr<const Tokenizer> scored_of_gguf(const GgufWords& words) {
  SentencePieceModel model{.types = words.types(), .kind = 2, .removes_extra_spaces = false, .finds_special = true};
  const auto scores = words.numbers("scores");
  if (!scores) words.refuse("scores", "is missing");
  for (std::size_t id = 0; id < scores->size(); ++id)
    model.pieces.push_back({std::string(words.tokens()[id]), id, (*scores)[id]});
  if (model.pieces.empty()) words.refuse("tokens", "is empty");
  model.start = words.id("bos_token_id").value_or(model.start);
  model.end = words.id("eos_token_id").value_or(model.end);
  if (!words.has("token_type")) {
    for (std::size_t id = 0; id < model.types.size(); ++id) {
      if (byte_of_piece(model.pieces[id].piece)) model.types[id] = PieceType::byte;
      if (id == model.start || id == model.end) model.types[id] = PieceType::control;
    }
  }
  if (std::ranges::find(model.types, PieceType::unknown) == model.types.end())
    model.types[words.id("unknown_token_id").value_or(0)] = PieceType::unknown;
  model.falls_back_to_bytes = has_bytes(model);
  model.prepends_space = words.flag("add_space_prefix").value_or(true);
  const TextEnds ends{.has_start = words.flag("add_bos_token").value_or(true),
                      .has_end = words.flag("add_eos_token").value_or(false)};
  return make_sentence_piece(model, ends, words.where());
}

}  // namespace

ModelTokenizer tokenizer_in_gguf(const GgufFile& file, const std::string& where) {
  const GgufWords words(file, where);
  const std::optional<std::string_view> kind = words.text("model"), name = words.text("pre");
  ModelTokenizer result{.where = where};
  if (!kind) return result;
  words.require_ids();
  if (*kind == "llama") {
    result.tokenizer = scored_of_gguf(words);
  } else if (*kind != "gpt2") {
    result.unread = fmt::format("a tokenizer of the kind {}, which is not read yet", name_in_quotes(*kind));
  } else if (!name) {
    result.unread = "a tokenizer without tokenizer.ggml.pre, which says how it splits words";
  } else if (const auto split = std::ranges::find(gguf_splits, *name, &GgufSplit::name);
             split == std::end(gguf_splits)) {
    result.unread =
        fmt::format("a tokenizer that splits words in the way {}, which is not read yet", name_in_quotes(*name));
  } else {
    result.tokenizer = byte_level_of_gguf(words, *split);
  }
  return result;
}

// --- llama2.c

std::shared_ptr<const Tokenizer> read_llama2c_tokenizer(std::string_view bytes, const std::string& where) {
  const auto refuse = [&] { fail("{} is no tokenizer of llama2.c, or is incomplete: get the file again", where); };
  const auto take = [&](std::size_t count) {
    if (count > bytes.size()) refuse();
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return taken;
  };
  const auto number = [&] {
    return little_endian<std::uint32_t>(reinterpret_cast<const unsigned char*>(take(sizeof(std::uint32_t)).data()));
  };
  // As sentencepiece has them with spaces in place of ▁, and ends of lines around <s> and </s>.
  SentencePieceModel model{.kind = 2, .falls_back_to_bytes = true, .removes_extra_spaces = false};
  const std::size_t longest = number();
  while (!bytes.empty()) {
    const double score = std::bit_cast<float>(number());
    const std::size_t size = number(), id = model.pieces.size();
    if (size == 0 || size > longest) refuse();
    const bool is_end = id == model.start || id == model.end;
    std::string piece;
    for (const char c : is_end ? trimmed(take(size), "\n") : take(size)) {
      if (c == ' ') {
        piece += "▁";
      } else {
        piece += c;
      }
    }
    model.types.push_back(id == 0                ? PieceType::unknown
                          : is_end               ? PieceType::control
                          : byte_of_piece(piece) ? PieceType::byte
                                                 : PieceType::normal);
    model.pieces.push_back({std::move(piece), id, score});
  }
  if (!has_bytes(model)) refuse();
  return make_sentence_piece(model, {.has_start = true}, where);
}

}  // namespace attn
