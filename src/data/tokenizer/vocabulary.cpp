#include "data/tokenizer/vocabulary.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {
namespace {

constexpr std::size_t most_pieces = std::size_t{1} << 22;

}  // namespace

PieceVocabulary::PieceVocabulary(std::span<const VocabularyEntry> entries, const std::string& where) {
  if (entries.empty()) fail("{}: the vocabulary is empty: get the file anew", where);
  std::uint64_t largest = 0;
  for (const VocabularyEntry& entry : entries) largest = std::max(largest, entry.id);
  if (largest >= most_pieces) {
    fail("{}: the vocabulary has the id {}, and at most {} can be read: get the file anew", where, largest,
         most_pieces - 1);
  }
  std::vector<bool> is_taken(largest + 1);
  pieces_.resize(largest + 1);
  for (const VocabularyEntry& entry : entries) {
    if (is_taken[entry.id]) {
      fail("{}: two pieces of the vocabulary have the id {}, '{}' and '{}': get the file anew", where, entry.id,
           shown_text(pieces_[entry.id]), shown_text(entry.piece));
    }
    if (first_not_utf8(entry.piece)) {
      fail("{}: the piece with the id {} is not UTF-8: get the file anew", where, entry.id);
    }
    is_taken[entry.id] = true;
    pieces_[entry.id] = entry.piece;
  }
  ids_.reserve(entries.size());
  for (const VocabularyEntry& entry : entries) {
    const auto id = static_cast<std::uint32_t>(entry.id);
    const auto [other, is_new] = ids_.emplace(pieces_[id], id);
    if (!is_new) {
      fail("{}: the piece '{}' has two ids, {} and {}: get the file anew", where, shown_text(entry.piece),
           other->second, id);
    }
  }
}

std::optional<std::size_t> PieceVocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace attn
