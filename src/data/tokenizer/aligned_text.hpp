#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// How many bytes may be made of a text, whatever a file says: each of them is counted, and is work. Throws InputError
/// beyond 16 times the text and a MiB.
class TextRoom {
 public:
  explicit TextRoom(std::size_t bytes_of_text) : most_(times * bytes_of_text + more) {}
  void take(std::size_t bytes);

 private:
  static constexpr std::size_t times = 16, more = std::size_t{1} << 20;
  std::size_t most_, taken_ = 0;
};

/// A text on its way through a tokenizer: whatever is done to it, each of its bytes knows the bytes of the original
/// text for which it stands. Every step may make as much of it as TextRoom says of the original text.
class AlignedText {
 public:
  explicit AlignedText(std::string_view original);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  /// Where it begins in the original text.
  std::size_t begin() const { return begin_; }

  /// Puts what `make` hands on in the place of all characters, the first `dropped` of which are left out.
  using TakeChanged = std::function<void(ChangedChar)>;
  void change(const std::function<void(const TakeChanged& take)>& make, std::size_t dropped = 0);
  /// Keeps the characters for which this holds.
  void keep_if(bool (*holds)(char32_t));
  /// Puts a text before the first character; nothing before an empty text.
  void prepend(std::string_view what);
  /// Puts a text in the place of each of the ranges that `find` hands on, which do not overlap and are in order.
  using TakeRange = std::function<void(ByteRange)>;
  void replace(const std::function<void(const TakeRange& take)>& find, std::string_view by);

  /// A part of it.
  AlignedText part(ByteRange range) const;
  /// The bytes of the original text for which a part stands.
  ByteRange original(ByteRange range) const;

 private:
  // A character of the original text, or none, which has no bytes.
  struct Place {
    std::uint32_t begin = 0;
    std::uint8_t bytes = 0;
  };
  // One for each byte of a text.
  struct Places {
    std::vector<std::uint32_t> begins = {};
    std::vector<std::uint8_t> bytes = {};

    bool empty() const { return begins.empty(); }
    Place at(std::size_t byte) const { return {begins[byte], bytes[byte]}; }
    void reserve(std::size_t count);
    void add(std::size_t count, Place place);
    Places part(ByteRange range) const;
  };

  AlignedText() = default;
  Place place_of(std::size_t byte) const;
  Place nowhere() const { return {static_cast<std::uint32_t>(begin_), 0}; }

  std::string text_;
  Places places_;  // of each byte of the text; empty: it is still as in the original
  std::size_t begin_ = 0;
  std::size_t original_bytes_ = 0;  // of all of the original text
};

}  // namespace attn
