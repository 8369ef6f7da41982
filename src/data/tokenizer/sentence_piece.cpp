#include "data/tokenizer/sentence_piece.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/support/error.hpp"
#include "data/tokenizer/pipeline.hpp"
#include "data/tokenizer/prefixes.hpp"

namespace attn {
namespace {

// --- fields of a message (Protocol Buffers, encoding)

struct ProtoField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;      // of a whole number, or the bits of a float
  std::string_view bytes = {};  // of a text or a message
};

// The fields of a message, one after the other.
class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::optional<ProtoField> next() {
    if (bytes_.empty()) return std::nullopt;
    const std::uint64_t key = whole_number_of_7_bits();
    ProtoField field{.number = key >> 3U};
    switch (key & 7U) {
      case 0:
        field.value = whole_number_of_7_bits();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2:
        field.bytes = take(whole_number_of_7_bits());
        break;
      case 5:
        field.value = fixed(4);
        break;
      default:
        refuse();
    }
    return field;
  }

  [[noreturn]] void refuse() const { fail("{} is broken off, or no file of sentencepiece: get it anew", where_); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) refuse();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }
  std::uint64_t whole_number_of_7_bits() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) return value;
    }
    refuse();
  }

  std::string_view bytes_;
  const std::string& where_;
};

// --- what is read of sentencepiece_model.proto

void read_piece(SentencePieceModel& model, std::string_view bytes, const std::string& where) {
  constexpr std::size_t most_pieces_read = std::size_t{1} << 22;
  if (model.pieces.size() == most_pieces_read) fail("{} has more than {} pieces", where, most_pieces_read);
  VocabularyEntry entry{.id = model.pieces.size()};
  PieceType type = PieceType::normal;
  ProtoReader reader(bytes, where);
  while (const auto field = reader.next()) {
    if (field->number == 1) entry.piece = field->bytes;
    if (field->number == 2) entry.score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    if (field->number == 3) type = static_cast<PieceType>(field->value);
  }
  model.pieces.push_back(std::move(entry));
  model.types.push_back(type);
}

void read_trainer(SentencePieceModel& model, std::string_view bytes, const std::string& where) {
  ProtoReader reader(bytes, where);
  while (const auto field = reader.next()) {
    if (field->number == 3) model.kind = field->value;
    if (field->number == 24) model.puts_space_behind = field->value != 0;
    if (field->number == 35) model.falls_back_to_bytes = field->value != 0;
    if (field->number == 41) model.start = field->value;
    if (field->number == 42) model.end = field->value;
  }
}

void read_spaces(SentencePieceModel& model, std::string_view bytes, const std::string& where) {
  ProtoReader reader(bytes, where);
  while (const auto field = reader.next()) {
    if (field->number == 2) model.charsmap = field->bytes;
    if (field->number == 3) model.prepends_space = field->value != 0;
    if (field->number == 4) model.removes_extra_spaces = field->value != 0;
    if (field->number == 5) model.escapes_spaces = field->value != 0;
  }
}

SentencePieceModel read_model_message(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) fail("{} is empty: get the file anew", where);
  SentencePieceModel model;
  ProtoReader reader(bytes, where);
  while (const auto field = reader.next()) {
    if (field->number == 1) read_piece(model, field->bytes, where);
    if (field->number == 2) read_trainer(model, field->bytes, where);
    if (field->number == 3) read_spaces(model, field->bytes, where);
  }
  if (model.pieces.empty()) reader.refuse();
  return model;
}

// --- as a tokenizer

// Sentencepiece merges two pieces where the vocabulary has both as one, that of the highest score first.
std::vector<MergeEntry> merges_by_score(const SentencePieceModel& model, const PieceVocabulary& vocabulary,
                                        const std::string& where) {
  std::vector<std::size_t> order(model.pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t id) { return model.pieces[id].score; });
  const auto may_be_merged = [&](std::size_t id) {
    return model.types[id] == PieceType::normal || model.types[id] == PieceType::unused;
  };
  std::vector<std::pair<std::string_view, std::size_t>> texts;
  std::size_t bytes = 0;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    bytes += model.pieces[id].piece.size();
    if (may_be_merged(id)) texts.emplace_back(model.pieces[id].piece, id);
  }
  const Prefixes lefts(std::move(texts));
  // Pieces that begin with each other can be made in very many ways.
  constexpr std::size_t most_times = 64, some_bytes = std::size_t{1} << 20;
  std::size_t bytes_left = most_times * bytes + some_bytes;
  std::vector<MergeEntry> merges;
  std::size_t rank = 0;
  for (const std::size_t id : order) {
    if (!may_be_merged(id)) continue;
    const std::string& piece = model.pieces[id].piece;
    bool is_made = false;
    // A single character need not be in the vocabulary by itself; then it is unknown, and merges nothing.
    lefts.find(piece, [&](std::size_t size, std::size_t) {
      const std::string_view right = std::string_view(piece).substr(size);
      Budget::take_reading(right.size());
      const auto other = right.empty() ? std::nullopt : vocabulary.find(right);
      if (!other || !may_be_merged(*other)) return;
      if (piece.size() > bytes_left)
        fail("{}: there are too many ways to make its pieces: give the tokenizer of another model", where);
      bytes_left -= piece.size();
      merges.push_back({piece.substr(0, size), std::string(right), rank});
      is_made = true;
    });
    if (is_made) ++rank;
  }
  return merges;
}

}  // namespace

std::shared_ptr<const Tokenizer> make_sentence_piece(const SentencePieceModel& model, TextEnds ends,
                                                     const std::string& where) {
  if (model.kind != 1 && model.kind != 2) {
    fail("{} is a model of whole words or characters, which is not read yet. These are: unigram, BPE", where);
  }
  if (model.puts_space_behind || !model.escapes_spaces) {
    fail("{} puts spaces behind words, or leaves them as they are, which is not read yet", where);
  }
  PieceVocabulary vocabulary(model.pieces, where);
  TokenizerParts parts;
  std::optional<std::size_t> unknown;
  std::vector<double> scores;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const std::string& text = model.pieces[id].piece;
    scores.push_back(model.types[id] == PieceType::normal ? model.pieces[id].score
                                                          : -std::numeric_limits<double>::infinity());
    if (model.types[id] == PieceType::unknown) unknown = id;
    if (model.types[id] == PieceType::control || model.types[id] == PieceType::unknown) {
      parts.added.push_back({.text = text, .id = id, .is_special = true, .is_in_texts = model.finds_special});
    }
    if (model.types[id] == PieceType::user_defined)
      parts.added.push_back({.text = text, .id = id, .is_in_normalized = !model.finds_special});
  }
  if (!unknown) fail("{} has no piece for what is unknown: get the file anew", where);
  std::vector<Normalize> steps;
  steps.push_back(normalize_by_charsmap(model.charsmap, CharsmapUse::as_sentencepiece, where));
  if (model.removes_extra_spaces) steps.push_back(remove_extra_spaces());
  steps.push_back(replace_text(" ", "▁"));
  if (model.prepends_space) steps.push_back(prepend_text("▁"));
  parts.normalize = in_sequence(std::move(steps));
  parts.decode = decode_sentence_pieces(model.prepends_space);
  const auto end_piece = [&](bool is_there, std::uint64_t id) {
    std::vector<SpecialToken> piece;
    if (!is_there) return piece;
    if (id >= model.pieces.size())
      fail("{} has no start or end token, which its model needs: get the file anew", where);
    piece.push_back({.id = id, .text = model.pieces[id].piece});
    return piece;
  };
  parts.post_process = put_around(end_piece(ends.has_start, model.start), end_piece(ends.has_end, model.end));
  if (model.kind == 1) {
    parts.model = make_unigram(std::move(vocabulary), std::move(scores), unknown, model.falls_back_to_bytes, where);
  } else {
    std::vector<MergeEntry> merges = merges_by_score(model, vocabulary, where);
    parts.model = make_bpe(std::move(vocabulary), std::move(merges),
                           {.unknown = model.pieces[*unknown].piece,
                            .fuses_unknown = true,
                            .falls_back_to_bytes = model.falls_back_to_bytes},
                           where);
  }
  return make_tokenizer(std::move(parts), where);
}

std::shared_ptr<const Tokenizer> read_sentence_piece(std::string_view bytes, TextEnds ends, const std::string& where) {
  return make_sentence_piece(read_model_message(bytes, where), ends, where);
}

}  // namespace attn
