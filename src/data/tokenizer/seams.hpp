#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "data/tokenizer/aligned_text.hpp"

namespace attn {

/// Where a word falls apart without a choice: between two characters that no piece has beside each other. What stands
/// before such a seam is cut as if nothing stood behind it, and the other way round.
class Seams {
 public:
  /// Takes a piece that may come to stand in a word.
  void add(std::string_view piece);

  /// Hands on the parts of a word. Only beside characters that are known, each as a piece of its own, is there a seam:
  /// unknown ones may become one piece.
  void split(std::string_view word, const std::function<bool(std::string_view character)>& is_known,
             const std::function<void(ByteRange)>& take) const;

 private:
  std::unordered_set<std::uint64_t> beside_;  // two characters in one piece
};

}  // namespace attn
