#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attn {

/// A piece of a vocabulary as its file has it: with its id, or with its score, or with both.
struct VocabularyEntry {
  std::string piece = {};
  std::uint64_t id = 0;
  double score = 0.0;
};

/// The pieces that there are, and their ids.
class PieceVocabulary {
 public:
  /// Throws InputError, which names `where`: empty, an id or a piece twice, a piece that is not UTF-8, or an id that is
  /// far beyond their number.
  PieceVocabulary(std::span<const VocabularyEntry> entries, const std::string& where);
  // The pieces are looked up where they are.
  PieceVocabulary(PieceVocabulary&&) = default;
  PieceVocabulary& operator=(PieceVocabulary&&) = default;

  std::size_t size() const { return pieces_.size(); }
  /// Empty: no piece has this id.
  std::string_view piece(std::size_t id) const { return id < pieces_.size() ? pieces_[id] : std::string_view(); }
  std::optional<std::size_t> find(std::string_view piece) const;

 private:
  std::vector<std::string> pieces_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

/// The pieces of a vocab.json. Throws InputError.
std::vector<VocabularyEntry> read_vocabulary(std::string_view bytes, const std::string& where);

}  // namespace attn
