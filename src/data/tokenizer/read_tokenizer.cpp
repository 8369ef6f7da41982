#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/files_of_folder.hpp"
#include "data/files/gguf.hpp"
#include "data/files/input_report.hpp"
#include "data/files/llama2c.hpp"
#include "data/files/mapped_file.hpp"
#include "data/files/matrix_file.hpp"
#include "data/tokenizer/pipeline.hpp"
#include "data/tokenizer/sentence_piece.hpp"
#include "data/tokenizer/tokenizers_of_models.hpp"

namespace attn {
namespace {

// --- what stands beside a vocabulary

// What the other files of a folder say of a tokenizer whose vocabulary lies there.
struct TokenizerFolder {
  std::string path;
  std::optional<Json> config = {};  // tokenizer_config.json
  std::string class_name = {};      // "GPT2Tokenizer"; empty: none is named
  std::string class_place = {};     // where it is named

  std::string file(std::string_view name) const { return path_in(path, name); }
  bool has(std::string_view name) const { return has_file(path, name); }
  std::string read(std::string_view name) const { return read_bytes(file(name)); }
};

// The words in `names` may end in Fast: then it is the same in another implementation.
bool is_class(std::string_view name, std::span<const std::string_view> names) {
  if (name.ends_with("Fast")) name.remove_suffix(4);
  return std::ranges::find(names, name) != names.end();
}

TokenizerFolder look_into(const std::string& path) {
  TokenizerFolder folder{.path = path};
  if (folder.has("tokenizer_config.json")) {
    const std::string where = folder.file("tokenizer_config.json");
    folder.config = parse_json(folder.read("tokenizer_config.json"), where);
    folder.class_name = TokenizerSettings(*folder.config, where).text_or("tokenizer_class", "");
    folder.class_place = where;
  }
  if (folder.class_name.empty() && folder.has("config.json")) {
    const std::string where = folder.file("config.json");
    const Json config = parse_json(folder.read("config.json"), where);
    folder.class_name = TokenizerSettings(config, where).text_or("model_type", "");
    folder.class_place = where;
  }
  return folder;
}

std::vector<std::string> lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  for (const std::string_view line : split_at(without_byte_order_mark(bytes), '\n')) {
    lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Special tokens by their texts, as far as the vocabulary has them.
std::vector<AddedToken> specials_in(const PieceVocabulary& vocabulary, std::span<const std::string_view> texts) {
  std::vector<AddedToken> all;
  for (const std::string_view text : texts) {
    if (const auto id = vocabulary.find(text)) {
      // <mask> takes the space before it, as in RoBERTa.
      all.push_back({.text = std::string(text), .id = *id, .is_special = true, .strips_left = text == "<mask>"});
    }
  }
  return all;
}

SpecialToken special_piece(const PieceVocabulary& vocabulary, std::string_view text, const std::string& where) {
  const auto id = vocabulary.find(text);
  if (!id) fail("{}: the vocabulary has no '{}', which stands around each text: get the file anew", where, text);
  return {.id = *id, .text = std::string(text)};
}

void tell_assumed(const std::string& where, std::size_t size, std::string sentence, std::string other) {
  InputReports::tell({.name = "tokenizer",
                      .where = where,
                      .size = fmt::format("{} pieces", size),
                      .assumed = {{&assumed::words, std::move(sentence), std::move(other)}}});
}

// --- vocab.json and merges.txt

// How texts are cut where only a vocabulary and merges are there: the class of the tokenizer says it.
struct ByteLevelClass {
  std::array<std::string_view, 5> names;
  std::array<std::string_view, 5> specials;
  bool has_ends;  // <s> and </s> stand around a text
};
constexpr std::array byte_level_classes = {
    ByteLevelClass{{"GPT2Tokenizer", "gpt2", "gpt_neo", "gptj", "opt"}, {"<|endoftext|>"}, false},
    ByteLevelClass{{"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "roberta", "bart"},
                   {"<s>", "</s>", "<unk>", "<pad>", "<mask>"},
                   true}};

std::vector<MergeEntry> read_merges(std::string_view bytes, const std::string& where) {
  require_utf8(bytes, where);
  std::vector<MergeEntry> merges;
  std::size_t number = 0;
  for (const std::string& line : lines_of(bytes)) {
    ++number;
    if (line.starts_with("#version") || line.empty()) continue;
    std::optional<MergeEntry> merge = merge_in(line, merges.size());
    if (!merge) fail("{}:{}: this is no merge of two pieces with a space between: get the file anew", where, number);
    merges.push_back(std::move(*merge));
  }
  if (merges.empty()) fail("{} has no merges: get the file anew", where);
  return merges;
}

std::shared_ptr<const Tokenizer> read_byte_level_files(const TokenizerFolder& folder, std::string_view vocabulary_name,
                                                       std::string_view merges_name) {
  const std::string where = folder.file(vocabulary_name), where_merges = folder.file(merges_name);
  const ByteLevelClass* kind = byte_level_classes.data();
  if (!folder.class_name.empty()) {
    kind = std::ranges::find_if(byte_level_classes,
                                [&](const ByteLevelClass& row) { return is_class(folder.class_name, row.names); });
    if (kind == byte_level_classes.end()) {
      fail("{}: {} and {} do not say how '{}' splits words: put the model's tokenizer.json beside them",
           folder.class_place, vocabulary_name, merges_name, shown_text(folder.class_name));
    }
  }
  PieceVocabulary vocabulary(read_vocabulary(folder.read(vocabulary_name), where), where);
  TokenizerParts parts{.added = specials_in(vocabulary, kind->specials)};
  parts.pre_tokenize = split_as_gpt2(false);
  parts.decode = decode_byte_level();
  if (kind->has_ends) {
    parts.post_process =
        process_in_sequence({trim_spaces_of_pieces(false), put_around({special_piece(vocabulary, "<s>", where)},
                                                                      {special_piece(vocabulary, "</s>", where)})});
  }
  if (folder.class_name.empty()) {
    tell_assumed(where, vocabulary.size(), "words are split as in GPT-2", "put the model's tokenizer.json beside it");
  }
  parts.model = make_bpe(std::move(vocabulary), read_merges(folder.read(merges_name), where_merges),
                         {.is_of_bytes = true}, where_merges);
  return make_tokenizer(std::move(parts), where);
}

// --- vocab.txt

constexpr std::array<std::string_view, 5> word_piece_classes = {"BertTokenizer", "DistilBertTokenizer",
                                                                "ElectraTokenizer", "bert", "distilbert"};
constexpr std::array<std::string_view, 5> word_piece_specials = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

std::shared_ptr<const Tokenizer> read_word_piece_file(const TokenizerFolder& folder, std::string_view name) {
  const std::string where = folder.file(name);
  if (!folder.class_name.empty() && !is_class(folder.class_name, word_piece_classes)) {
    fail("{}: {} does not say how '{}' splits words: put the model's tokenizer.json beside it", folder.class_place,
         name, shown_text(folder.class_name));
  }
  const std::string bytes = folder.read(name);
  require_utf8(bytes, where);
  std::vector<VocabularyEntry> entries;
  std::uint64_t id = 0;
  for (const std::string& line : lines_of(bytes)) {
    if (!line.empty()) entries.push_back({.piece = line, .id = id});
    ++id;
  }
  PieceVocabulary vocabulary(entries, where);
  bool lowers = true, separates_chinese = true, strips_accents = true, says_case = false;
  if (folder.config) {
    const TokenizerSettings config(*folder.config, folder.file("tokenizer_config.json"));
    says_case = config.has("do_lower_case");
    lowers = config.flag_or("do_lower_case", true);
    strips_accents = config.flag_or("strip_accents", lowers);
    separates_chinese = config.flag_or("tokenize_chinese_chars", true);
  }
  if (!says_case) {
    tell_assumed(where, vocabulary.size(), "capital letters become small, and accents are left out",
                 "put a tokenizer_config.json with \"do_lower_case\": false beside it");
  }
  TokenizerParts parts{.added = specials_in(vocabulary, word_piece_specials)};
  parts.normalize = normalize_as_bert(true, separates_chinese, strips_accents, lowers);
  parts.pre_tokenize = split_as_bert();
  parts.decode = decode_word_pieces("##", true);
  parts.post_process =
      put_around_as_bert(special_piece(vocabulary, "[CLS]", where), special_piece(vocabulary, "[SEP]", where));
  parts.model = make_word_piece(std::move(vocabulary), "[UNK]", "##", 100, where);
  return make_tokenizer(std::move(parts), where);
}

// --- tokenizer.model

// Which special tokens stand around a text, where a class of tokenizers says it by default.
struct SentencePieceClass {
  std::array<std::string_view, 4> names;
  bool has_start, has_end;
};
constexpr std::array sentence_piece_classes = {
    SentencePieceClass{{"LlamaTokenizer", "GemmaTokenizer", "llama", "mistral"}, true, false},
    SentencePieceClass{{"T5Tokenizer", "t5"}, false, true}};

std::shared_ptr<const Tokenizer> read_sentence_piece_file(const TokenizerFolder& folder, std::string_view name) {
  const std::string where = folder.file(name);
  std::optional<bool> has_start, has_end;
  for (const SentencePieceClass& row : sentence_piece_classes) {
    if (!folder.class_name.empty() && is_class(folder.class_name, row.names)) {
      has_start = row.has_start;
      has_end = row.has_end;
    }
  }
  if (folder.config) {
    const TokenizerSettings config(*folder.config, folder.file("tokenizer_config.json"));
    if (config.has("add_bos_token")) has_start = config.flag_or("add_bos_token", false);
    if (config.has("add_eos_token")) has_end = config.flag_or("add_eos_token", false);
  }
  std::shared_ptr<const Tokenizer> tokenizer = read_sentence_piece(
      folder.read(name), {.has_start = has_start.value_or(false), .has_end = has_end.value_or(false)}, where);
  if (!has_start && !has_end) {
    tell_assumed(where, tokenizer->size(), "no start or end token stands around a text",
                 "put a tokenizer_config.json with \"add_bos_token\": true beside it");
  }
  return tokenizer;
}

// --- which files there are

std::shared_ptr<const Tokenizer> read_tokenizer_json(const TokenizerFolder& folder, std::string_view name) {
  const std::string where = folder.file(name);
  return tokenizer_from_json(folder.read(name), where);
}

std::shared_ptr<const Tokenizer> read_llama2c_file(const TokenizerFolder& folder, std::string_view name) {
  const std::string where = folder.file(name);
  return read_llama2c_tokenizer(folder.read(name), where);
}

std::shared_ptr<const Tokenizer> read_gguf_file(const TokenizerFolder& folder, std::string_view name) {
  const std::string where = folder.file(name);
  const FileBytes file = map_file(where);
  if (!is_gguf(file.bytes)) fail("{} is no GGUF file: give the file of a model", where);
  ModelTokenizer found = tokenizer_in_gguf(read_gguf(file.bytes, where), where);
  if (found.tokenizer) return std::move(found.tokenizer);
  fail("{} has {}: give the tokenizer.json of the same model", where,
       found.unread.empty() ? "no tokenizer" : found.unread);
}

constexpr std::string_view name_of_llama2c = "tokenizer.bin";

// Files by their names, the first that is there first. Some come in twos.
struct TokenizerFiles {
  std::string_view name, beside;
  std::shared_ptr<const Tokenizer> (*read)(const TokenizerFolder& folder, std::string_view name);
};
constexpr std::array tokenizer_files = {
    TokenizerFiles{"tokenizer.json", "", read_tokenizer_json},
    TokenizerFiles{"vocab.json", "merges.txt",
                   [](const TokenizerFolder& folder, std::string_view) {
                     return read_byte_level_files(folder, "vocab.json", "merges.txt");
                   }},
    TokenizerFiles{"encoder.json", "vocab.bpe",
                   [](const TokenizerFolder& folder, std::string_view) {
                     return read_byte_level_files(folder, "encoder.json", "vocab.bpe");
                   }},
    TokenizerFiles{"vocab.txt", "", read_word_piece_file},
    TokenizerFiles{"tokenizer.model", "", read_sentence_piece_file},
    TokenizerFiles{name_of_llama2c, "", read_llama2c_file},
};

// A file of another name is known by its ending. Some need what others beside them say.
struct TokenizerEnding {
  std::string_view ending;
  std::shared_ptr<const Tokenizer> (*read)(const TokenizerFolder& folder, std::string_view name);
  bool is_whole = false;
};
constexpr std::array tokenizer_endings = {
    TokenizerEnding{".json", read_tokenizer_json, true}, TokenizerEnding{".txt", read_word_piece_file},
    TokenizerEnding{".model", read_sentence_piece_file}, TokenizerEnding{".bin", read_llama2c_file, true},
    TokenizerEnding{".gguf", read_gguf_file, true}};

bool is_folder_there(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(confined_path(path), unknown);
}

}  // namespace

std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& folder_or_file) {
  if (is_folder_there(folder_or_file)) {
    for (const TokenizerFiles& files : tokenizer_files) {
      TokenizerFolder folder{.path = folder_or_file};
      if (!folder.has(files.name) || (!files.beside.empty() && !folder.has(files.beside))) continue;
      if (files.name != "tokenizer.json") folder = look_into(folder_or_file);
      return files.read(folder, files.name);
    }
    return nullptr;
  }
  const std::filesystem::path path(folder_or_file);
  const std::string name = path.filename().string();
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  for (const TokenizerFiles& files : tokenizer_files) {
    if (name != files.name && name != files.beside) continue;
    if (!files.beside.empty()) {
      for (const std::string_view needed : {files.name, files.beside}) {
        if (!TokenizerFolder{.path = parent}.has(needed)) {
          fail("{} needs {} of the same model beside it", folder_or_file, needed);
        }
      }
    }
    return files.read(look_into(parent), files.name);
  }
  for (const auto& [ending, read, is_whole] : tokenizer_endings) {
    if (name.ends_with(ending)) return read(is_whole ? TokenizerFolder{.path = parent} : look_into(parent), name);
  }
  fail("{} is no file of a tokenizer. Give a folder, or one of these: {}", folder_or_file, files_of_tokenizers);
}

std::shared_ptr<const Tokenizer> given_tokenizer(const std::string& folder_or_file) {
  if (!file_exists(folder_or_file)) fail("‹tokenizer›: there is no file or folder '{}'", folder_or_file);
  if (std::shared_ptr<const Tokenizer> tokenizer = read_tokenizer(folder_or_file)) return tokenizer;
  fail("‹tokenizer›: {} has no tokenizer. Give a folder with one of these, or the file: {}", folder_or_file,
       files_of_tokenizers);
}

ModelTokenizer tokenizer_of_model(const std::string& path) {
  if (is_folder_there(path)) return {.tokenizer = read_tokenizer(path), .where = path};
  const FileBytes model = map_file(path);
  if (is_gguf(model.bytes)) return tokenizer_in_gguf(read_gguf(model.bytes, place_of_file(path)), place_of_file(path));
  if (!is_llama2c(model.bytes)) return {};
  const std::string folder = std::filesystem::path(path).parent_path().string(),
                    beside = path_in(folder, name_of_llama2c);
  if (path == "-" || !has_file(folder, name_of_llama2c)) return {};
  ModelTokenizer found{.tokenizer = read_tokenizer(beside), .where = beside};
  const std::size_t words = llama2c_sizes(model.bytes).words;
  if (found.tokenizer->size() == words) return found;
  return {.unread = fmt::format("a {} of {} beside it, and has embeddings of {}", name_of_llama2c,
                                count_of(found.tokenizer->size(), "piece"), words)};
}

}  // namespace attn
