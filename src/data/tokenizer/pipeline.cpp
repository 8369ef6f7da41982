#include "data/tokenizer/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"
#include "data/tokenizer/prefixes.hpp"

namespace attn {

namespace {

// --- tokens that were added

// A part of a text, or a token in it.
using TakePartOrToken = std::function<void(AlignedText part, std::optional<std::size_t> token)>;

// Looks for them in a text: at each place for the longest. All are added before the first text.
class AddedTokens {
 public:
  void add(const AddedToken& token, std::string text) {
    if (!numbers_.emplace(text, tokens_.size()).second) return;
    tokens_.push_back(token);
    tokens_.back().text = std::move(text);
  }
  void prepare() {
    std::vector<std::pair<std::string_view, std::size_t>> texts;
    for (std::size_t number = 0; number < tokens_.size(); ++number) texts.emplace_back(tokens_[number].text, number);
    prefixes_ = Prefixes(std::move(texts));
  }

  // Hands on what is found as parts of their own.
  void split(AlignedText part, const TakePartOrToken& take) const {
    const std::string& text = part.text();
    Budget::take_reading(text.size());
    std::size_t done = 0;
    const auto put = [&](std::size_t begin, std::size_t end, std::optional<std::size_t> id) {
      if (end > begin) take(part.part({begin, end}), id);
      done = std::max(done, end);
    };
    for (std::size_t at = 0; at < text.size();) {
      const AddedToken* const token = longest_at(text, at);
      if (!token) {
        ++at;
        continue;
      }
      std::size_t begin = at, end = at + token->text.size();
      at = end;
      if (token->is_single_word && !stands_alone(text, begin, end)) continue;
      if (token->strips_left) {
        while (begin > done) {
          std::size_t before = begin - 1;
          while (before > done && continues_character(text[before])) --before;
          if (!is_white_space(code_point_at(text, before).code)) break;
          begin = before;
        }
      }
      if (token->strips_right) {
        while (end < text.size()) {
          const auto [code, bytes] = code_point_at(text, end);
          if (!is_white_space(code)) break;
          end += bytes;
        }
        Budget::take_reading(end - at);
      }
      begin = std::max(begin, done);
      put(done, begin, std::nullopt);
      put(begin, end, token->id);
    }
    if (done == 0) return take(std::move(part), std::nullopt);
    put(done, text.size(), std::nullopt);
  }

 private:
  const AddedToken* longest_at(std::string_view text, std::size_t at) const {
    if (!prefixes_.may_begin(text[at])) return nullptr;
    const AddedToken* longest = nullptr;
    prefixes_.find(text.substr(at), [&](std::size_t, std::size_t number) { longest = &tokens_[number]; });
    return longest;
  }

  static bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
    if (begin > 0) {
      std::size_t before = begin - 1;
      while (before > 0 && continues_character(text[before])) --before;
      if (is_word_character(code_point_at(text, before).code)) return false;
    }
    return end == text.size() || !is_word_character(code_point_at(text, end).code);
  }

  std::vector<AddedToken> tokens_;                        // with their texts as they are looked for
  std::unordered_map<std::string, std::size_t> numbers_;  // by their texts
  Prefixes prefixes_;
};

// How words were cut, as long as there are not too many: they come again and again.
class KnownWords {
 public:
  static constexpr std::size_t longest = 256;  // bytes

  const std::vector<WordPart>& pieces_of(std::string_view word, const WordModel& model) {
    constexpr std::size_t bytes_of_entry = 100, most_bytes = std::size_t{32} << 20;
    const auto found = words_.find(word);
    if (found != words_.end()) return found->second;
    last_ = model.cut(word);
    const std::size_t bytes = bytes_of_entry + word.size() + last_.size() * sizeof(WordPart);
    if (bytes > most_bytes - bytes_) return last_;
    bytes_ += bytes;
    last_.shrink_to_fit();
    return words_.emplace(std::string(word), std::move(last_)).first->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::vector<WordPart>, Hash, std::equal_to<>> words_;
  std::vector<WordPart> last_;
  std::size_t bytes_ = 0;  // of all that are known
};

// --- all of it

class Pipeline : public Tokenizer {
 public:
  Pipeline(TokenizerParts parts, const std::string& where) : parts_(std::move(parts)) {
    const PieceVocabulary& vocabulary = parts_.model->vocabulary();
    size_ = vocabulary.size();
    constexpr std::size_t most_beyond = std::size_t{1} << 20;
    for (const AddedToken& token : parts_.added) {
      const auto known = vocabulary.find(token.text);
      const std::string_view other = vocabulary.piece(token.id);
      if ((known && *known != token.id) || (!other.empty() && other != token.text)) {
        fail("{}: the added token '{}' has the id {}, and the vocabulary says otherwise: take both from the same model",
             where, shown_text(token.text), token.id);
      }
      if (token.id > vocabulary.size() + most_beyond) {
        fail("{}: the added token '{}' has the id {}, far beyond the vocabulary of {}: get the file anew", where,
             shown_text(token.text), token.id, vocabulary.size());
      }
      const auto [twin, is_new] = added_.emplace(token.id, token);
      if (!is_new && twin->second.text != token.text) {
        fail("{}: the added tokens '{}' and '{}' have the same id, {}: get the file anew", where,
             shown_text(twin->second.text), shown_text(token.text), token.id);
      }
      size_ = std::max(size_, token.id + 1);
      if (!token.is_in_texts) continue;
      if (token.is_in_normalized) {
        normalized_.add(token, token.text);
        continue;
      }
      if (!token.is_normalized) {
        as_written_.add(token, token.text);
        continue;
      }
      AlignedText text(token.text);
      if (parts_.normalize) parts_.normalize(text);
      normalized_.add(token, text.text());
    }
    normalized_.prepare();
    as_written_.prepare();
    is_added_.resize(size_);
    for (const auto& [id, token] : added_) is_added_[id] = true;
    require_known_ends(where);
  }

  void put_pieces(std::string_view text, bool with_special, const TakeCut& take) const override {
    require_utf8(text, "the text");
    constexpr std::uint64_t work_of_word = 200, work_of_writing = 20, work_of_trim = 50;
    const PostProcess& post = parts_.post_process;
    if (with_special) put_tokens(post.before, 0, take.piece);
    std::size_t number = 0;  // of the next piece
    KnownWords known;
    put_words(text, [&](const AlignedText& part, std::optional<std::size_t> token) {
      const std::string& word = part.text();
      const auto put = [&](std::size_t id, ByteRange range, std::string_view written) {
        const auto [begin, end] = part.original(range);
        Token piece{.id = id, .text = this->piece(id), .begin = begin, .end = end, .is_special = is_special(id)};
        Budget::take_reading(work_of_trim * post.trims.size());
        for (const SpaceTrim& trim : post.trims) {
          trim.trim(piece, written, number == 0 && !(with_special && trim.is_behind_token), text);
        }
        ++number;
        take.piece(piece);
      };
      const auto [begin, end] = part.original({0, word.size()});
      take.word({.text = word, .begin = begin, .end = end, .is_added = token.has_value()});
      Budget::take_reading(work_of_word + work_of_writing * word.size());
      if (token) return put(*token, {0, word.size()}, word);
      const WordModel& model = *parts_.model;
      model.put_parts(word, [&](const ByteRange& range) {
        const std::string_view one = std::string_view(word).substr(range.begin, range.end - range.begin);
        const auto put_piece = [&](const WordPart& piece) {
          put(piece.id, {range.begin + piece.range.begin, range.begin + piece.range.end}, this->piece(piece.id));
        };
        if (one.size() > KnownWords::longest) return model.put_pieces(one, put_piece);
        std::ranges::for_each(known.pieces_of(one, model), put_piece);
      });
    });
    take.words_end();
    if (with_special) put_tokens(post.behind, 0, take.piece);
  }

  std::vector<Token> encode_pair(std::string_view first, std::string_view second) const override {
    const std::vector<PlaceInPair>& places = parts_.post_process.of_pair;
    if (places.empty()) fail("the tokenizer does not say how two texts are put together: give one");
    const std::array<std::vector<Token>, 2> texts = {encode(first, false), encode(second, false)};
    std::vector<Token> pieces;
    for (const PlaceInPair& place : places) {
      put_tokens(place.tokens, place.type, [&](const Token& piece) { pieces.push_back(piece); });
      if (!place.text) continue;
      for (Token piece : texts.at(*place.text)) {
        piece.type = place.type;
        pieces.push_back(piece);
      }
    }
    return pieces;
  }

  std::string decode(std::span<const std::size_t> ids) const override {
    std::vector<std::string> pieces;
    pieces.reserve(ids.size());
    for (const std::size_t id : ids) {
      if (id >= size_) fail("the id {} is beyond the vocabulary: its ids are 0 to {}", id, size_ - 1);
      pieces.emplace_back(piece(id));
    }
    if (parts_.decode) pieces = parts_.decode(std::move(pieces));
    std::string text;
    for (const std::string& one : pieces) {
      if (!parts_.decode && !text.empty()) text += ' ';
      text += one;
    }
    return text;
  }

  std::size_t size() const override { return size_; }

  std::string_view piece(std::size_t id) const override {
    if (!is_added(id)) return parts_.model->vocabulary().piece(id);
    return added_.at(id).text;
  }

  bool is_special(std::size_t id) const override { return is_added(id) && added_.at(id).is_special; }

  std::string_view kind() const override { return parts_.model->kind(); }

  std::string_view written() const override { return parts_.written; }

  std::vector<CuttingStep> steps(const CutWord& word) const override {
    if (word.is_added) return {};
    if (word.text.size() > most_bytes_with_steps) {
      fail("a word of {} bytes takes too many steps to show: give one of at most {}", word.text.size(),
           most_bytes_with_steps);
    }
    return parts_.model->steps(word.text);
  }

 private:
  bool is_added(std::size_t id) const { return id < is_added_.size() && is_added_[id]; }

  void put_tokens(const std::vector<SpecialToken>& tokens, std::size_t type,
                  const std::function<void(const Token&)>& take) const {
    for (const SpecialToken& token : tokens)
      take({.id = token.id, .text = piece(token.id), .is_special = true, .type = type});
  }

  // What stands around a text, or a pair, is in the vocabulary under the same name.
  void require_known_ends(const std::string& where) const {
    const PostProcess& post = parts_.post_process;
    require_known(post.before, where);
    require_known(post.behind, where);
    for (const PlaceInPair& place : post.of_pair) require_known(place.tokens, where);
  }
  void require_known(const std::vector<SpecialToken>& tokens, const std::string& where) const {
    for (const SpecialToken& token : tokens) {
      const std::string_view own = piece(token.id);
      if (!own.empty() && own == token.text) continue;
      fail("{}: the token '{}' that is put around texts has the id {}, and {}: take both from the same model", where,
           shown_text(token.text), token.id,
           own.empty() ? std::string("no piece of the vocabulary has it")
                       : fmt::format("the vocabulary has '{}' there", shown_text(own)));
    }
  }

  // Hands on the words of a text, none of which is empty, and the tokens in it that were added.
  void put_words(std::string_view text,
                 const std::function<void(const AlignedText&, std::optional<std::size_t>)>& take) const {
    if (text.empty()) return;
    constexpr std::uint64_t work_of_text = 20;
    Budget::take_reading(work_of_text * text.size());
    const auto put_normalized = [&](AlignedText part, std::optional<std::size_t> token) {
      if (part.empty()) return;
      if (token || !parts_.pre_tokenize) return take(part, token);
      parts_.pre_tokenize(std::move(part), [&](const AlignedText& word) {
        if (!word.empty()) take(word, std::nullopt);
      });
    };
    as_written_.split(AlignedText(text), [&](AlignedText part, std::optional<std::size_t> token) {
      if (token) return take(part, token);
      if (parts_.normalize) parts_.normalize(part);
      normalized_.split(std::move(part), put_normalized);
    });
  }

  TokenizerParts parts_;
  std::unordered_map<std::size_t, AddedToken> added_;  // by id
  std::vector<bool> is_added_;                         // whether an id is one of these
  AddedTokens as_written_, normalized_;
  std::size_t size_ = 0;
};

// --- as people read them

void put_shown(std::string& shown, char32_t c) {
  if (c == U' ') {
    shown += "␣";
  } else if (c == U'\n') {
    shown += "⏎";
  } else if (c == U'\t') {
    shown += "⇥";
  } else if (is_printed(c)) {
    append_code_point(shown, c);
  } else {
    shown += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(c));
  }
}

// Bytes, of which some may be parts of characters.
std::string shown_bytes(std::string_view bytes) {
  std::string shown;
  while (!bytes.empty()) {
    const std::size_t good = first_not_utf8(bytes).value_or(bytes.size());
    for (const char32_t c : code_points_of(bytes.substr(0, good))) put_shown(shown, c);
    if (good == bytes.size()) break;
    shown += piece_of_byte(static_cast<unsigned char>(bytes[good]));
    bytes.remove_prefix(good + 1);
  }
  return shown;
}

}  // namespace

Tokenizer::~Tokenizer() = default;

std::vector<Token> Tokenizer::encode(std::string_view text, bool with_special) const {
  std::vector<Token> pieces;
  put_pieces(text, with_special, {.piece = [&](const Token& piece) { pieces.push_back(piece); }});
  return pieces;
}

std::vector<CutWord> Tokenizer::cut(std::string_view text) const {
  std::vector<CutWord> words;
  const auto begin_word = [&](const WordOfText& word) {
    words.push_back({.text = std::string(word.text), .begin = word.begin, .end = word.end, .is_added = word.is_added});
  };
  put_pieces(text, false,
             {.piece = [&](const Token& piece) { words.back().pieces.push_back(piece); }, .word = begin_word});
  return words;
}

std::shared_ptr<const Tokenizer> make_tokenizer(TokenizerParts parts, const std::string& where) {
  return std::make_shared<const Pipeline>(std::move(parts), where);
}

// --- as people read them

std::string shown_text(std::string_view text) { return shown_bytes(text); }

std::string shown_word(const Tokenizer& tokenizer, std::string_view word) {
  const std::string_view kind = tokenizer.kind();
  if (kind == "byte-level BPE") {
    std::string bytes;
    for (const char32_t sign : code_points_of(word)) {
      const auto byte = byte_of_sign(sign);
      if (!byte) return shown_text(word);
      bytes += static_cast<char>(*byte);
    }
    return shown_bytes(bytes);
  }
  // The sign of sentencepiece for a space.
  const bool has_signs = kind != "WordPiece";
  std::string shown;
  for (const char32_t c : code_points_of(word)) put_shown(shown, has_signs && c == U'▁' ? U' ' : c);
  return shown;
}

std::string shown_piece(const Tokenizer& tokenizer, std::size_t id) {
  const std::string_view piece = tokenizer.piece(id);
  return tokenizer.is_special(id) ? shown_text(piece) : shown_word(tokenizer, piece);
}

}  // namespace attn
