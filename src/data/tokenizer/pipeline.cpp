#include "data/tokenizer/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "core/support/error.hpp"

namespace attn {

Tokenizer::~Tokenizer() = default;

// --- tokens that were added

namespace {

// Looks for them in a text: at each place for the longest.
class AddedTokens {
 public:
  void add(const AddedToken& token, std::string text) {
    if (text.empty()) return;
    std::vector<std::size_t>& lengths = lengths_.at(static_cast<unsigned char>(text.front()));
    if (std::ranges::find(lengths, text.size()) == lengths.end()) lengths.push_back(text.size());
    std::ranges::sort(lengths, std::greater<>());
    tokens_.emplace(std::move(text), token);
  }

  // Puts what is found as parts of their own.
  void split(std::vector<TextPart>& parts) const {
    if (tokens_.empty()) return;
    std::vector<TextPart> result;
    for (TextPart& part : parts) {
      if (part.added) {
        result.push_back(std::move(part));
      } else {
        split_part(part.text, result);
      }
    }
    parts = std::move(result);
  }

 private:
  const AddedToken* longest_at(std::string_view text, std::size_t at, std::size_t& size) const {
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
      if (length > text.size() - at) continue;
      const auto found = tokens_.find(std::string(text.substr(at, length)));
      if (found == tokens_.end()) continue;
      size = length;
      return &found->second;
    }
    return nullptr;
  }

  static bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
    if (begin > 0) {
      std::size_t before = begin - 1;
      while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xC0U) == 0x80U) --before;
      if (is_word_character(code_point_at(text, before).code)) return false;
    }
    return end == text.size() || !is_word_character(code_point_at(text, end).code);
  }

  void split_part(const AlignedText& part, std::vector<TextPart>& result) const {
    const std::string& text = part.text();
    std::size_t done = 0;
    const auto put = [&](std::size_t begin, std::size_t end, std::optional<std::size_t> id) {
      if (end > begin) result.push_back({.text = part.part({begin, end}), .added = id});
      done = std::max(done, end);
    };
    for (std::size_t at = 0; at < text.size();) {
      std::size_t size = 0;
      const AddedToken* const token = longest_at(text, at, size);
      if (!token) {
        ++at;
        continue;
      }
      std::size_t begin = at, end = at + size;
      at = end;
      if (token->is_single_word && !stands_alone(text, begin, end)) continue;
      if (token->strips_left) {
        while (begin > done) {
          std::size_t before = begin - 1;
          while (before > done && (static_cast<unsigned char>(text[before]) & 0xC0U) == 0x80U) --before;
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
      }
      begin = std::max(begin, done);
      put(done, begin, std::nullopt);
      put(begin, end, token->id);
    }
    put(done, text.size(), std::nullopt);
  }

  std::unordered_map<std::string, AddedToken> tokens_;
  std::array<std::vector<std::size_t>, 256> lengths_;  // of those that begin with a byte, the longest first
};

// Bytes of a text as characters, and back.
class Characters {
 public:
  explicit Characters(std::string_view text) : size_(text.size()) {
    if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80U; })) return;
    numbers_.resize(text.size() + 1);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = code_point_at(text, at).size;
      for (std::size_t i = 0; i < size; ++i) numbers_[at + i] = static_cast<std::uint32_t>(bytes_.size());
      bytes_.push_back(static_cast<std::uint32_t>(at));
      at += size;
    }
    numbers_.back() = static_cast<std::uint32_t>(bytes_.size());
    bytes_.push_back(static_cast<std::uint32_t>(text.size()));
  }
  std::size_t number_at(std::size_t byte) const {
    return numbers_.empty() ? std::min(byte, size_) : numbers_[std::min(byte, numbers_.size() - 1)];
  }
  std::size_t byte_at(std::size_t number) const {
    return bytes_.empty() ? std::min(number, size_) : bytes_[std::min(number, bytes_.size() - 1)];
  }

 private:
  std::size_t size_;
  std::vector<std::uint32_t> numbers_, bytes_;
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
    require_known_ends(where);
  }

  std::vector<Token> encode(std::string_view text, bool with_special) const override {
    const Characters characters(text);
    std::vector<EncodedPiece> encoded = encoded_text(text, characters);
    if (parts_.post_process.of_one) parts_.post_process.of_one(encoded, with_special);
    return tokens_of(encoded, {&characters, &characters});
  }

  std::vector<Token> encode_pair(std::string_view first, std::string_view second) const override {
    if (!parts_.post_process.of_pair) fail("the tokenizer does not say how two texts are put together: give one");
    const Characters of_first(first), of_second(second);
    return tokens_of(parts_.post_process.of_pair(encoded_text(first, of_first), encoded_text(second, of_second)),
                     {&of_first, &of_second});
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
    const auto found = added_.find(id);
    return found == added_.end() ? parts_.model->vocabulary().piece(id) : std::string_view(found->second.text);
  }

  bool is_special(std::size_t id) const override {
    const auto found = added_.find(id);
    return found != added_.end() && found->second.is_special;
  }

  std::string_view kind() const override { return parts_.model->kind(); }

  std::string_view written() const override { return parts_.written; }

  std::vector<CutWord> cut(std::string_view text) const override {
    require_utf8(text, "the text");
    std::vector<CutWord> words;
    for (const TextPart& part : parts_of(text)) {
      const std::string& word = part.text.text();
      const auto [begin, end] = part.text.original({0, word.size()});
      CutWord cut{.text = word, .begin = begin, .end = end, .is_added = part.added.has_value()};
      if (part.added) {
        cut.pieces.push_back({*part.added, std::string(piece(*part.added)), begin, end, is_special(*part.added)});
      } else {
        for (const auto& [id, range] : parts_.model->cut(word)) {
          const auto [from, to] = part.text.original(range);
          cut.pieces.push_back({id, std::string(piece(id)), from, to, is_special(id)});
        }
      }
      words.push_back(std::move(cut));
    }
    return words;
  }

  std::vector<CuttingStep> steps(const CutWord& word) const override {
    if (word.is_added) return {};
    if (word.text.size() > most_bytes_with_steps) {
      fail("a word of {} bytes takes too many steps to show: give one of at most {}", word.text.size(),
           most_bytes_with_steps);
    }
    return parts_.model->steps(word.text);
  }

 private:
  // The pieces of a text, without what stands around it.
  std::vector<EncodedPiece> encoded_text(std::string_view text, const Characters& characters) const {
    require_utf8(text, "the text");
    std::vector<EncodedPiece> encoded;
    // Words come again and again.
    std::unordered_map<std::string_view, std::vector<WordPart>> known;
    const std::vector<TextPart> parts = parts_of(text);
    for (const TextPart& part : parts) {
      const auto put = [&](std::size_t id, ByteRange range, std::string piece, bool is_special) {
        encoded.push_back(
            {id, characters.number_at(range.begin), characters.number_at(range.end), std::move(piece), is_special});
      };
      if (part.added) {
        put(*part.added, part.text.original({0, part.text.text().size()}), part.text.text(), is_special(*part.added));
        continue;
      }
      const std::string& word = part.text.text();
      const auto [found, is_new] = known.try_emplace(word);
      if (is_new) found->second = parts_.model->cut(word);
      for (const WordPart& piece : found->second) {
        put(piece.id, part.text.original(piece.range), std::string(this->piece(piece.id)), false);
      }
    }
    return encoded;
  }

  // The same with bytes in the place of characters, of which there are those of one text or of two.
  std::vector<Token> tokens_of(const std::vector<EncodedPiece>& encoded,
                               const std::array<const Characters*, 2>& texts) const {
    std::vector<Token> pieces;
    pieces.reserve(encoded.size());
    for (const EncodedPiece& one : encoded) {
      std::string own(piece(one.id));
      const Characters& characters = *texts[one.of_text];
      pieces.push_back({one.id, own.empty() ? one.text : std::move(own), characters.byte_at(one.begin),
                        characters.byte_at(one.end), one.is_special || is_special(one.id), one.type});
    }
    return pieces;
  }

  // What stands around a text, or a pair, is in the vocabulary under the same name.
  void require_known_ends(const std::string& where) const {
    std::vector<EncodedPiece> ends;
    if (parts_.post_process.of_one) parts_.post_process.of_one(ends, true);
    if (parts_.post_process.of_pair) std::ranges::move(parts_.post_process.of_pair({}, {}), std::back_inserter(ends));
    for (const EncodedPiece& end : ends) {
      const std::string_view own = piece(end.id);
      if (!own.empty() && own == end.text) continue;
      fail("{}: the token '{}' that is put around texts has the id {}, and {}: take both from the same model", where,
           shown_text(end.text), end.id,
           own.empty() ? std::string("no piece of the vocabulary has it")
                       : fmt::format("the vocabulary has '{}' there", shown_text(own)));
    }
  }

  std::vector<TextPart> parts_of(std::string_view text) const {
    std::vector<TextPart> parts;
    if (text.empty()) return parts;
    constexpr std::uint64_t work_of_byte = 500;
    Budget::take_work(work_of_byte * text.size());
    parts.push_back({.text = AlignedText(text)});
    as_written_.split(parts);
    if (parts_.normalize) {
      for (TextPart& part : parts) {
        if (!part.added) parts_.normalize(part.text);
      }
    }
    normalized_.split(parts);
    if (parts_.pre_tokenize) parts_.pre_tokenize(parts);
    std::erase_if(parts, [](const TextPart& part) { return part.text.empty(); });
    return parts;
  }

  TokenizerParts parts_;
  std::unordered_map<std::size_t, AddedToken> added_;  // by id
  AddedTokens as_written_, normalized_;
  std::size_t size_ = 0;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_tokenizer(TokenizerParts parts, const std::string& where) {
  return std::make_shared<const Pipeline>(std::move(parts), where);
}

// --- as people read them

namespace {

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
