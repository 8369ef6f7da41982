#include "data/problem/model_words.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/support/utf8.hpp"
#include "data/files/input_report.hpp"

namespace attn {

namespace {

// --- words

enum class Class { space, letter, digit, joiner, point, open_bracket, close_bracket, sign };

struct Character {
  std::string_view bytes;
  Class kind = Class::sign;
};

Class class_of(utf8proc_int32_t point) {
  if (point == '\'' || point == 0x2019 || point == '-') return Class::joiner;
  if (point == '.' || point == ',') return Class::point;
  if (point == '<') return Class::open_bracket;
  if (point == '>') return Class::close_bracket;
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
      return Class::space;
    case UTF8PROC_CATEGORY_ND:
      return Class::digit;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Class::sign;
    default:
      return Class::letter;  // letters, marks, symbols, emoji and what joins them
  }
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t point = -1;
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i,
                                                   static_cast<utf8proc_ssize_t>(text.size() - i), &point);
    if (size <= 0) fail("the text is not UTF-8 at byte {}: give it in UTF-8", i + 1);
    characters.push_back({text.substr(i, static_cast<std::size_t>(size)), class_of(point)});
    i += static_cast<std::size_t>(size);
  }
  return characters;
}

bool is_word(Class kind) { return kind == Class::letter || kind == Class::digit; }

// Whether the sign at i belongs to the word around it.
bool joins(const std::vector<Character>& characters, std::size_t i) {
  if (i == 0 || i + 1 == characters.size()) return false;
  const Class before = characters[i - 1].kind, after = characters[i + 1].kind;
  if (characters[i].kind == Class::joiner) return is_word(before) && is_word(after);
  return characters[i].kind == Class::point && before == Class::digit && after == Class::digit;
}

// The place after the ">" that closes a bracketed word begun at i, or i when there is none.
std::size_t end_of_bracketed(const std::vector<Character>& characters, std::size_t i) {
  std::size_t end = i + 1;
  while (end < characters.size() && (is_word(characters[end].kind) || characters[end].bytes == "_")) ++end;
  return end > i + 1 && end < characters.size() && characters[end].kind == Class::close_bracket ? end + 1 : i;
}

// --- model words

// The ids of words. A table of all is made where many are looked up among many.
class WordIds {
 public:
  WordIds(const std::vector<std::string>& words, const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    constexpr std::size_t few = 8;
    if (words.size() <= few) return;
    table_.reserve(vocabulary.size());
    for (std::size_t i = 0; i < vocabulary.size(); ++i) table_.emplace(vocabulary[i], i + 1);
  }

  std::size_t at(const std::string& word) const {
    if (table_.empty()) return id_in(vocabulary_, word);
    const auto found = table_.find(word);
    return found == table_.end() ? 0 : found->second;
  }

 private:
  const Vocabulary& vocabulary_;
  std::unordered_map<std::string_view, std::size_t> table_ = {};
};

[[noreturn]] void fail_unknown_word(const std::string& word, const Vocabulary& vocabulary) {
  if (!are_token_ids(vocabulary)) fail_unknown("word", word, vocabulary);
  fail("'{}' is not a word of this model. Its words are token ids, from 0 to {}", word, vocabulary.size() - 1);
}

}  // namespace

// --- words

std::vector<std::string> split_words(std::string_view text) {
  const std::vector<Character> characters = characters_of(text);
  std::vector<std::string> words;
  bool inside = false;
  const auto append = [&](const Character& character) {
    if (!inside) words.emplace_back();
    words.back() += character.bytes;
    inside = true;
  };
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const Class kind = characters[i].kind;
    if (is_word(kind) || (inside && joins(characters, i))) {
      append(characters[i]);
      continue;
    }
    inside = false;
    if (kind == Class::space) continue;
    const std::size_t end = kind == Class::open_bracket ? end_of_bracketed(characters, i) : i;
    append(characters[i]);
    for (; i + 1 < end; ++i) append(characters[i + 1]);
    inside = false;
  }
  if (words.empty()) fail("the text has no words: give at least one");
  return words;
}

void pad_with_blanks(std::vector<std::vector<std::string>>& sentences) {
  std::size_t longest = 0;
  for (const auto& words : sentences) longest = std::max(longest, words.size());
  for (auto& words : sentences) words.resize(longest, std::string(blank));
}

// --- model words

std::vector<std::string> ModelWords::of(std::string_view text, bool with_special) const {
  if (!tokenizer) return split_words(text);
  std::vector<std::string> words;
  for (const Token& piece : tokenizer->encode(text, with_special)) words.push_back(pieces->at(piece.id));
  if (words.empty()) fail("the text has no words: give at least one");
  return words;
}

std::size_t ModelWords::left_out_of(std::string_view text) const {
  if (!tokenizer) return 0;
  std::vector<bool> is_told(text.size(), false);
  for (const Token& piece : tokenizer->encode(text, false)) {
    for (std::size_t i = piece.begin; i < piece.end; ++i) is_told[i] = true;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool begins = !continues_character(text[i]);
    count += begins && !is_told[i] && byte > ' ';
  }
  return count;
}

ModelWords::Pair ModelWords::of_pair(std::string_view first, std::string_view second) const {
  Pair pair;
  if (tokenizer) {
    for (const Token& piece : tokenizer->encode_pair(first, second)) {
      pair.words.push_back(pieces->at(piece.id));
      pair.types.push_back(piece.type);
    }
    if (pair.words.empty()) fail("the texts have no words: give at least one");
    return pair;
  }
  pair.words = split_words(first);
  pair.types.assign(pair.words.size(), 0);
  for (std::string& word : split_words(second)) pair.words.push_back(std::move(word));
  pair.types.resize(pair.words.size(), 1);
  return pair;
}

bool ModelWords::ends_source(const Vocabulary& vocabulary) const {
  return !tokenizer && !are_token_ids(vocabulary) && id_in(vocabulary, end()) != 0;
}

std::vector<std::size_t> ModelWords::ends_in(const Vocabulary& vocabulary) const {
  std::vector<std::size_t> ids;
  for (const std::string& word : ends) {
    if (const std::size_t id = id_in(vocabulary, word)) ids.push_back(id);
  }
  return ids;
}

std::string ModelWords::text_of(const std::vector<std::size_t>& ids, const std::vector<std::string>& vocabulary) const {
  std::string text;
  if (!tokenizer) {
    for (const std::size_t id : ids) text += (text.empty() ? "" : " ") + vocabulary[id - 1];
    return text;
  }
  std::vector<std::size_t> tokens;
  for (const std::size_t id : ids) {
    if (id <= tokenizer->size()) tokens.push_back(id - 1);
  }
  return tokenizer->decode(tokens);
}

ModelWords words_of_tokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::size_t count, const std::string& where) {
  if (tokenizer->size() > count) {
    fail("{}: the tokenizer has {}, and the model has embeddings of {}: give the files of one model", where,
         count_of(tokenizer->size(), "piece"), count);
  }
  auto words = std::make_shared<Vocabulary>(count);
  std::unordered_set<std::string_view> known(count);
  for (std::size_t id = 0; id < count; ++id) {
    std::string& word = (*words)[id];
    if (id < tokenizer->size() && !tokenizer->piece(id).empty()) word = shown_piece(*tokenizer, id);
    if (!word.empty() && known.insert(word).second) continue;
    word = fmt::format("<{}>", id);
    known.insert(word);
  }
  return {.tokenizer = std::move(tokenizer), .pieces = std::move(words)};
}

// A blank is masked: any id does for one that the model does not know.
ModelInput input_of(const std::vector<std::string>& words, const Vocabulary& vocabulary) {
  ModelInput input{.tokens = words, .blank = blanks_among(words)};
  const WordIds ids_of(words, vocabulary);
  for (const std::string& word : words) {
    const std::size_t id = ids_of.at(word);
    if (id == 0 && word != blank) fail_unknown_word(word, vocabulary);
    input.ids.push_back(std::max<std::size_t>(id, 1));
  }
  if (are_token_ids(vocabulary)) {
    const std::string ids = fmt::format("words are token ids, from 0 to {}", vocabulary.size() - 1);
    InputReports::tell({"words", "", count_of(words.size(), "word"), {{&assumed::words, ids}}});
  }
  return input;
}

bool may_have_pair(const Transformer& model, const ModelWords& words) {
  return model.kind->encodes && !model.kind->decodes && (model.sizes.types > 1 || words.tokenizer);
}

ModelInput input_of_pair(const std::string& first, const std::string& second, const Transformer& model,
                         const ModelWords& words) {
  const ModelWords::Pair pair = words.of_pair(first, second);
  ModelInput input = input_of(pair.words, model.source_vocabulary);
  const std::size_t types = *std::ranges::max_element(pair.types) + 1;
  if (types > std::max<std::size_t>(1, model.sizes.types))
    fail("the tokenizer tells {} types of words, and the model has {}", types, model.sizes.types);
  if (model.sizes.types > 0) input.types = pair.types;
  if (const std::size_t most = model.most_words(model.sizes.source_places).value_or(input.size()); input.size() > most)
    fail("the two texts have {}, but the model has vectors for only {}: give fewer words",
         count_of(input.size(), "word"), count_of(most, "position"));
  return input;
}

}  // namespace attn
