#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/tokenizer/pipeline.hpp"

namespace attn {
namespace {

// --- the text: vocabulary and merges as lists, and all else as values

struct TokenizerFile {
  Json rest;  // without the vocabulary and the merges
  std::vector<VocabularyEntry> vocabulary;
  bool has_scores = false;
  std::vector<MergeEntry> merges;
  bool has_merges = false;
};

// Takes JSON as it is parsed. A vocabulary of a hundred thousand pieces never stands as JSON values.
class TokenizerReader : public nlohmann::json_sax<Json> {
 public:
  enum class Holds { all, vocabulary };
  TokenizerReader(std::string where, Holds holds) : where_(std::move(where)), holds_(holds) {}

  TokenizerFile take() { return std::move(file_); }

  bool null() override { return value(nullptr); }
  bool boolean(bool it) override { return value(it); }
  bool number_integer(Json::number_integer_t it) override {
    if (at_ == Place::vocabulary) return number(static_cast<double>(it), std::nullopt);
    return value(it);
  }
  bool number_unsigned(Json::number_unsigned_t it) override {
    if (at_ == Place::vocabulary) return number(static_cast<double>(it), it);
    return value(it);
  }
  bool number_float(Json::number_float_t it, const std::string&) override {
    if (at_ == Place::vocabulary) return number(it, std::nullopt);
    return value(it);
  }
  bool string(std::string& it) override {
    if (at_ == Place::vocabulary && is_object_) refuse_list();
    if (at_ == Place::vocabulary) return piece(it);
    if (at_ == Place::merges) return merge(it);
    return value(std::move(it));
  }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    if (at_ == Place::vocabulary || at_ == Place::merges) refuse_list();
    if (is_member("vocab") || (open_.empty() && holds_ == Holds::vocabulary)) {
      at_ = Place::vocabulary;
      depth_ = 1;
      is_object_ = true;
      return true;
    }
    return open(Json::object());
  }
  bool key(std::string& it) override {
    if (at_ == Place::vocabulary) return piece(it);
    key_ = std::move(it);
    Json& object = *open_.back();
    if (object.contains(key_))
      fail("{}: the member \"{}\" is given twice: get the file anew", where_, shown_text(key_));
    if (object.size() >= most_members) fail("{}: an object has more than {} members", where_, most_members);
    return true;
  }
  bool end_object() override {
    if (at_ == Place::vocabulary) return end_list();
    return close();
  }
  bool start_array(std::size_t) override {
    if (at_ != Place::elsewhere) {
      if (depth_ == 2 || is_object_) refuse_list();
      ++depth_;
      pending_.clear();
      return true;
    }
    if (is_member("vocab") || is_member("merges")) {
      file_.has_merges = file_.has_merges || is_member("merges");
      file_.has_scores = file_.has_scores || is_member("vocab");
      at_ = is_member("vocab") ? Place::vocabulary : Place::merges;
      depth_ = 1;
      is_object_ = false;
      return true;
    }
    return open(Json::array());
  }
  bool end_array() override {
    if (at_ == Place::elsewhere) return close();
    if (depth_ == 1) return end_list();
    --depth_;
    if (at_ == Place::merges) {
      if (pending_.size() != 2) refuse_merge();
      add_merge(pending_[0], pending_[1]);
    } else if (!pending_.empty()) {
      refuse_list();
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail("{}: this is no correct JSON from byte {} on: get the file anew", where_, position);
  }

 private:
  enum class Place { elsewhere, vocabulary, merges };
  static constexpr std::size_t deepest = 100, most_members = 10'000, most_values = 4'000'000;

  // Whether what begins is this member of "model".
  bool is_member(std::string_view name) const {
    return open_.size() == 2 && key_ == name && names_.back() == "model" && open_.back()->is_object();
  }

  bool value(Json it) {
    if (at_ != Place::elsewhere) refuse_list();
    put(std::move(it));
    return true;
  }

  Json* put(Json it) {
    if (++values_ > most_values)
      fail("{}: there are more than {} values: this is no file of a tokenizer", where_, most_values);
    if (open_.empty()) {
      file_.rest = std::move(it);
      return &file_.rest;
    }
    Json& outer = *open_.back();
    if (outer.is_array()) {
      outer.push_back(std::move(it));
      return &outer.back();
    }
    return &(outer[key_] = std::move(it));
  }

  bool open(Json it) {
    if (open_.size() == deepest) fail("{}: brackets are nested more than {} deep: get the file anew", where_, deepest);
    names_.push_back(key_);
    open_.push_back(put(std::move(it)));
    return true;
  }

  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  bool end_list() {
    at_ = Place::elsewhere;
    return true;
  }

  bool piece(std::string& it) {
    if (!is_object_ && (depth_ != 2 || !pending_.empty())) refuse_list();
    pending_ = {std::move(it)};
    return true;
  }

  bool number(double it, std::optional<std::uint64_t> id) {
    if (pending_.size() != 1 || (is_object_ && !id)) refuse_list();
    const std::uint64_t its_id = is_object_ ? *id : file_.vocabulary.size();
    file_.vocabulary.push_back({std::move(pending_[0]), its_id, is_object_ ? 0.0 : it});
    pending_.clear();
    return true;
  }

  bool merge(std::string& it) {
    if (depth_ == 2) {
      pending_.push_back(std::move(it));
      return true;
    }
    std::optional<MergeEntry> merge = merge_in(it, file_.merges.size());
    if (!merge) refuse_merge();
    file_.merges.push_back(std::move(*merge));
    return true;
  }

  void add_merge(std::string left, std::string right) {
    const std::size_t rank = file_.merges.size();
    file_.merges.push_back({std::move(left), std::move(right), rank});
  }

  [[noreturn]] void refuse_merge() const {
    fail("{}: merge {} is not two pieces: get the file anew", where_, file_.merges.size() + 1);
  }
  [[noreturn]] void refuse_list() const {
    if (at_ == Place::merges) refuse_merge();
    fail("{}: entry {} of the vocabulary is no piece with its id or its score: get the file anew", where_,
         file_.vocabulary.size() + 1);
  }

  std::string where_;
  Holds holds_;
  TokenizerFile file_;
  std::vector<Json*> open_;         // objects and lists
  std::vector<std::string> names_;  // of these
  std::string key_;
  std::size_t values_ = 0;
  Place at_ = Place::elsewhere;
  std::size_t depth_ = 0;             // within the vocabulary or the merges
  bool is_object_ = false;            // the vocabulary is one
  std::vector<std::string> pending_;  // a piece before its number; the two of a merge
};

TokenizerFile parse_tokenizer(std::string_view bytes, const std::string& where, TokenizerReader::Holds holds) {
  if (trimmed(bytes).empty()) fail("{} is empty: get the file anew", where);
  require_utf8(bytes, where);
  TokenizerReader reader(where, holds);
  if (!Json::sax_parse(without_byte_order_mark(bytes), &reader)) fail("{}: this is no correct JSON", where);
  return reader.take();
}

// --- what it says

bool mentions_byte_level(const Json& part) {
  if (part.is_object()) {
    const auto type = part.find("type");
    if (type != part.end() && *type == "ByteLevel") return true;
  }
  if (!part.is_structured()) return false;
  return std::ranges::any_of(part, mentions_byte_level);
}

struct WordModelRow {
  std::string_view name;
  std::unique_ptr<WordModel> (*make)(TokenizerFile& file, const TokenizerSettings& model, bool is_of_bytes,
                                     const std::string& where);
};

std::unique_ptr<WordModel> bpe_of_file(TokenizerFile& file, const TokenizerSettings& model, bool is_of_bytes,
                                       const std::string& where) {
  if (file.has_scores) model.refuse("vocab", "an object of pieces and their ids");
  if (!file.has_merges) model.refuse("merges", "a list of merges");
  BpeSettings settings{.fuses_unknown = model.flag_or("fuse_unk", false),
                       .falls_back_to_bytes = model.flag_or("byte_fallback", false),
                       .ignores_merges = model.flag_or("ignore_merges", false),
                       .inner_prefix = model.text_or("continuing_subword_prefix", ""),
                       .end_suffix = model.text_or("end_of_word_suffix", ""),
                       .is_of_bytes = is_of_bytes};
  if (model.has("unk_token")) settings.unknown = model.text("unk_token");
  return make_bpe(PieceVocabulary(file.vocabulary, where), std::move(file.merges), std::move(settings), where);
}

std::unique_ptr<WordModel> unigram_of_file(TokenizerFile& file, const TokenizerSettings& model, bool,
                                           const std::string& where) {
  if (!file.has_scores) model.refuse("vocab", "a list of pieces and their scores");
  std::vector<double> scores;
  for (const VocabularyEntry& entry : file.vocabulary) scores.push_back(entry.score);
  return make_unigram(PieceVocabulary(file.vocabulary, where), std::move(scores), model.count("unk_id"),
                      model.flag_or("byte_fallback", false), where);
}

std::unique_ptr<WordModel> word_piece_of_file(TokenizerFile& file, const TokenizerSettings& model, bool,
                                              const std::string& where) {
  if (file.has_scores) model.refuse("vocab", "an object of pieces and their ids");
  return make_word_piece(PieceVocabulary(file.vocabulary, where), model.text_or("unk_token", "[UNK]"),
                         model.text_or("continuing_subword_prefix", "##"),
                         model.count_or("max_input_chars_per_word", 100), where);
}

constexpr std::array word_model_rows = {WordModelRow{"BPE", bpe_of_file}, WordModelRow{"Unigram", unigram_of_file},
                                        WordModelRow{"WordPiece", word_piece_of_file}};

// Older files do not name the kind of model; its members do.
std::string kind_of_model(const TokenizerFile& file, const TokenizerSettings& model) {
  if (!model.type().empty()) return model.type();
  if (file.has_merges) return "BPE";
  if (file.has_scores) return "Unigram";
  if (model.has("max_input_chars_per_word")) return "WordPiece";
  model.refuse("type", "BPE, Unigram or WordPiece");
}

std::vector<AddedToken> added_tokens_of(const TokenizerSettings& settings) {
  std::vector<AddedToken> all;
  for (const TokenizerSettings& one : settings.list("added_tokens")) {
    const auto id = one.count("id");
    if (!id) one.refuse("id", "a whole number, 0 or more");
    const bool is_special = one.flag_or("special", false);
    all.push_back({.text = one.text("content"),
                   .id = *id,
                   .is_special = is_special,
                   .is_normalized = one.flag_or("normalized", !is_special),
                   .is_single_word = one.flag_or("single_word", false),
                   .strips_left = one.flag_or("lstrip", false),
                   .strips_right = one.flag_or("rstrip", false)});
  }
  return all;
}

}  // namespace

std::shared_ptr<const Tokenizer> tokenizer_from_json(std::string_view bytes, const std::string& where, KeptText kept) {
  TokenizerFile file = parse_tokenizer(bytes, where, TokenizerReader::Holds::all);
  const TokenizerSettings settings(file.rest, where);
  if (!settings.has("model")) fail("{} has no \"model\": give the tokenizer.json of a model", where);
  const TokenizerSettings model = settings.object("model");
  TokenizerParts parts{.added = added_tokens_of(settings)};
  if (kept == KeptText::yes) parts.written = bytes;
  const auto read = [&](std::string_view name, const auto& reader, auto& part) {
    if (settings.has(name)) part = reader(settings.object(name));
  };
  read("normalizer", read_normalizer, parts.normalize);
  read("pre_tokenizer", read_pre_tokenizer, parts.pre_tokenize);
  read("post_processor", read_post_processor, parts.post_process);
  read("decoder", read_decoder, parts.decode);
  const auto is_of_bytes = [&](std::string_view name) {
    return settings.has(name) && mentions_byte_level(*settings.find(name));
  };
  const std::string kind = kind_of_model(file, model);
  std::vector<std::string> known;
  for (const WordModelRow& row : word_model_rows) {
    known.emplace_back(row.name);
    if (row.name != kind) continue;
    parts.model = row.make(file, model, is_of_bytes("normalizer") || is_of_bytes("pre_tokenizer"), where);
    return make_tokenizer(std::move(parts), where);
  }
  refuse_type(model, "model", known);
}

std::vector<VocabularyEntry> read_vocabulary(std::string_view bytes, const std::string& where) {
  TokenizerFile file = parse_tokenizer(bytes, where, TokenizerReader::Holds::vocabulary);
  if (file.vocabulary.empty()) fail("{} is no object of pieces and their ids: give the vocab.json of a model", where);
  return std::move(file.vocabulary);
}

}  // namespace attn
