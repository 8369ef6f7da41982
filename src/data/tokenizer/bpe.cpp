#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>

#include "core/support/error.hpp"
#include "data/tokenizer/seams.hpp"
#include "data/tokenizer/word_model.hpp"

namespace attn {

std::string piece_of_byte(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  const int high = digit(piece[3]), low = digit(piece[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

std::optional<MergeEntry> merge_in(std::string_view text, std::size_t rank) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == text.size() ||
      text.find(' ', space + 1) != std::string_view::npos)
    return std::nullopt;
  return MergeEntry{std::string(text.substr(0, space)), std::string(text.substr(space + 1)), rank};
}

namespace {

class Bpe : public WordModel {
 public:
  Bpe(PieceVocabulary vocabulary, std::vector<MergeEntry> merges, BpeSettings settings, const std::string& where)
      : WordModel(std::move(vocabulary)), settings_(std::move(settings)) {
    if (settings_.unknown) unknown_ = id_of(*settings_.unknown, where, "the token for unknown characters");
    merges_.reserve(merges.size());
    for (const MergeEntry& entry : merges) {
      const auto needed = [&](std::string_view piece) {
        if (const auto id = this->vocabulary().find(piece)) return static_cast<std::uint32_t>(*id);
        fail(
            "{}: merge {} ('{}' and '{}') needs the piece '{}', which the vocabulary does not have: take both from the same model",
            where, entry.rank + 1, shown_text(entry.left), shown_text(entry.right), shown_text(piece));
      };
      const std::uint32_t left = needed(entry.left), right = needed(entry.right);
      std::string_view rest = entry.right;
      if (rest.starts_with(settings_.inner_prefix)) rest.remove_prefix(settings_.inner_prefix.size());
      const std::string made = entry.left + std::string(rest);
      const Merge merge = {static_cast<std::uint32_t>(entry.rank), needed(made)};
      merges_.emplace(pair_of(left, right), merge);
      seams_.add(made);
    }
    if (settings_.falls_back_to_bytes) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        bytes_.push_back(this->vocabulary().find(piece_of_byte(static_cast<unsigned char>(byte))));
      }
    }
  }

  void put_parts(std::string_view word, const std::function<void(ByteRange)>& take) const override {
    const bool is_whole = settings_.ignores_merges || !settings_.inner_prefix.empty() || !settings_.end_suffix.empty();
    if (is_whole) return take({0, word.size()});
    seams_.split(
        word, [&](std::string_view character) { return vocabulary().find(character).has_value(); }, take);
  }

  std::vector<WordPart> cut(std::string_view word) const override {
    if (settings_.ignores_merges) {
      if (const auto id = vocabulary().find(word)) return {{*id, {0, word.size()}}};
    }
    std::vector<WordPart> pieces = characters(word);
    merge(pieces, nullptr);
    return pieces;
  }

  std::vector<CuttingStep> steps(std::string_view word) const override {
    if (settings_.ignores_merges) {
      if (const auto id = vocabulary().find(word)) return {{.pieces = {*id}}};
    }
    std::vector<WordPart> pieces = characters(word);
    std::vector<CuttingStep> steps = {{.pieces = ids_of_parts(pieces)}};
    merge(pieces, &steps);
    return steps;
  }

  std::string_view kind() const override {
    if (settings_.is_of_bytes) return "byte-level BPE";
    return settings_.falls_back_to_bytes ? "BPE with byte fallback" : "BPE";
  }

 private:
  struct Merge {
    std::uint32_t rank, made;
  };
  // A merge that can be made: of the piece at a place with the one behind it.
  struct Candidate {
    std::uint32_t rank, at, left, right, made;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };

  static std::uint64_t pair_of(std::size_t left, std::size_t right) { return std::uint64_t{left} << 32U | right; }

  std::size_t id_of(std::string_view piece, const std::string& where, std::string_view what) const {
    if (const auto id = vocabulary().find(piece)) return *id;
    fail("{}: {} is '{}', which the vocabulary does not have: take both from the same model", where, what,
         shown_text(piece));
  }

  static std::vector<std::size_t> ids_of_parts(const std::vector<WordPart>& pieces) {
    std::vector<std::size_t> ids;
    for (const WordPart& piece : pieces) ids.push_back(piece.id);
    return ids;
  }

  // The pieces before anything is merged.
  std::vector<WordPart> characters(std::string_view word) const {
    std::vector<WordPart> pieces;
    pieces.reserve(word.size());
    std::optional<WordPart> pending;  // an unknown character, or several that are one piece
    const auto add = [&](std::size_t id, std::size_t at, std::size_t size) { pieces.push_back({id, {at, at + size}}); };
    const auto add_pending = [&] {
      if (pending) pieces.push_back(*pending);
      pending.reset();
    };
    std::string wrapped;
    for (std::size_t at = 0, size; at < word.size(); at += size) {
      size = code_point_at(word, at).size;
      std::string_view character = word.substr(at, size);
      const bool is_inner = at > 0 && !settings_.inner_prefix.empty();
      const bool is_last = at + size == word.size() && !settings_.end_suffix.empty();
      if (is_inner || is_last) {
        wrapped = is_inner ? settings_.inner_prefix : "";
        wrapped += character;
        if (is_last) wrapped += settings_.end_suffix;
        character = wrapped;
      }
      if (const auto id = vocabulary().find(character)) {
        add_pending();
        add(*id, at, size);
        continue;
      }
      if (settings_.falls_back_to_bytes &&
          std::ranges::all_of(character, [&](char c) { return bytes_[static_cast<unsigned char>(c)].has_value(); })) {
        add_pending();
        for (std::size_t i = 0; i < character.size(); ++i)
          add(*bytes_[static_cast<unsigned char>(character[i])], at + std::min(i, size - 1), 1);
        continue;
      }
      if (!unknown_) continue;
      if (pending && settings_.fuses_unknown) {
        pending->range.end = at + size;
      } else {
        add_pending();
        pending = WordPart{*unknown_, {at, at + size}};
      }
    }
    add_pending();
    return pieces;
  }

  // Merges them in place; the steps, where somebody asks for them.
  void merge(std::vector<WordPart>& pieces, std::vector<CuttingStep>* steps) const {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint64_t work_of_piece = 100, work_of_merge = 100, bytes_of_piece = 80;
    if (pieces.size() < 2) return;
    if (pieces.size() >= none) fail("a word of {} characters is too long: put spaces between words", pieces.size());
    Budget::take_reading(work_of_piece * pieces.size());
    Budget::require_cells(bytes_of_piece * pieces.size() / sizeof(double));
    // The pieces as a list: a piece that was merged into the one before it has no size.
    const auto count = static_cast<std::uint32_t>(pieces.size());
    std::vector<std::uint32_t> before(count), behind(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      before[i] = i == 0 ? none : i - 1;
      behind[i] = i + 1 == count ? none : i + 1;
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    std::vector<bool> is_gone(pieces.size());
    const auto consider = [&](std::uint32_t at) {
      if (at == none || behind[at] == none) return;
      const std::size_t left = pieces[at].id, right = pieces[behind[at]].id;
      const auto found = merges_.find(pair_of(left, right));
      if (found == merges_.end()) return;
      queue.push({found->second.rank, at, static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right),
                  found->second.made});
    };
    for (std::uint32_t i = 0; i + 1 < count; ++i) consider(i);
    while (!queue.empty()) {
      const Candidate next = queue.top();
      queue.pop();
      Budget::take_reading(work_of_merge);
      const std::uint32_t at = next.at;
      // It may be that one of the two was merged with another since.
      if (is_gone[at] || behind[at] == none || pieces[at].id != next.left || pieces[behind[at]].id != next.right)
        continue;
      const std::uint32_t merged = behind[at];
      pieces[at] = {next.made, {pieces[at].range.begin, pieces[merged].range.end}};
      is_gone[merged] = true;
      behind[at] = behind[merged];
      if (behind[at] != none) before[behind[at]] = at;
      consider(before[at]);
      consider(at);
      if (steps) {
        CuttingStep step{.rank = next.rank + 1};
        for (std::uint32_t i = 0; i != none; i = behind[i]) {
          if (i == at) step.made = step.pieces.size();
          step.pieces.push_back(pieces[i].id);
        }
        steps->push_back(std::move(step));
      }
    }
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i != none; i = behind[i]) pieces[kept++] = pieces[i];
    pieces.resize(kept);
  }

  BpeSettings settings_;
  std::optional<std::size_t> unknown_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  Seams seams_;  // between what merges make
  std::vector<std::optional<std::size_t>> bytes_;
};

}  // namespace

std::unique_ptr<WordModel> make_bpe(PieceVocabulary vocabulary, std::vector<MergeEntry> merges, BpeSettings settings,
                                    const std::string& where) {
  return std::make_unique<Bpe>(std::move(vocabulary), std::move(merges), std::move(settings), where);
}

}  // namespace attn
