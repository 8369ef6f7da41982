#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/unicode.hpp"

namespace attn {

/// Bytes of a text.
struct ByteRange {
  std::size_t begin = 0, end = 0;
};

/// A text on its way through a tokenizer: whatever is done to it, each of its bytes knows the bytes of the original
/// text for which it stands.
class AlignedText {
 public:
  explicit AlignedText(std::string_view original);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  /// Where it begins in the original text.
  std::size_t begin() const { return begin_; }

  /// Puts these characters in the place of all others, the first `dropped` of which are left out.
  void change(std::span<const ChangedChar> to, std::size_t dropped = 0);
  /// Keeps the characters for which this holds.
  void keep_if(bool (*holds)(char32_t));
  /// Puts a text before the first character; nothing before an empty text.
  void prepend(std::string_view what);
  void append(std::string_view what);
  /// Puts a text in the place of each of these ranges, which do not overlap and are in order.
  void replace(std::span<const ByteRange> ranges, std::string_view by);

  /// A part of it.
  AlignedText part(ByteRange range) const;
  /// The bytes of the original text for which a part stands.
  ByteRange original(ByteRange range) const;

 private:
  struct Place {
    std::uint32_t begin, end;
  };

  AlignedText() = default;
  void change_part(ByteRange range, std::span<const ChangedChar> to, std::size_t dropped);

  std::string text_;
  std::vector<Place> places_;  // of each byte of the text
  std::size_t begin_ = 0;
};

}  // namespace attn
