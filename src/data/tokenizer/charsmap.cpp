#include "data/tokenizer/normalizers.hpp"

#include <algorithm>
#include <cstring>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"

namespace attn {

namespace {

// A double-array trie as darts-clone writes it, and the replacements, each up to a 0.
class Charsmap {
 public:
  Charsmap(std::string_view bytes, const std::string& where) {
    std::uint32_t size = 0;
    if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
    if (bytes.size() < sizeof size || size % sizeof(std::uint32_t) != 0 || size == 0 ||
        size > bytes.size() - sizeof size) {
      fail("{}: the map of characters (precompiled_charsmap) is broken off: get the file anew", where);
    }
    units_.resize(size / sizeof(std::uint32_t));
    std::memcpy(units_.data(), bytes.data() + sizeof size, size);
    replacements_ = bytes.substr(sizeof size + size);
    if (first_not_utf8(replacements_)) {
      fail("{}: a replacement in the map of characters (precompiled_charsmap) is not UTF-8: get the file anew", where);
    }
  }

  // What replaces the beginning of a text, and how many bytes of it; of several the shortest or the longest.
  struct Found {
    std::string_view by;
    std::size_t size;
  };
  std::optional<Found> find(std::string_view text, bool longest) const {
    std::optional<Found> found;
    std::size_t node = offset(units_[0]), at = 0;
    for (; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte == 0) break;
      node ^= byte;
      if (node >= units_.size()) break;
      const std::uint32_t unit = units_[node];
      if ((unit & (1U << 31U | 0xFFU)) != byte) break;
      node ^= offset(unit);
      if (node >= units_.size()) break;
      if ((unit >> 8U & 1U) == 0) continue;
      const std::size_t value = units_[node] & ((1U << 31U) - 1U);
      if (value > replacements_.size()) break;
      const std::string_view rest = std::string_view(replacements_).substr(value);
      found = Found{rest.substr(0, rest.find('\0')), at + 1};
      if (!longest) break;
    }
    constexpr std::uint64_t work_of_mapping = 4;
    Budget::take_reading(work_of_mapping * (at + 1 + (found ? found->by.size() : 0)));
    // A value that points into a character is none.
    if (found && first_not_utf8(found->by)) return std::nullopt;
    return found;
  }

 private:
  static std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10U} << ((unit & (1U << 9U)) >> 6U); }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

// Takes replacements one after the other. The last character is kept back: it takes up what is removed behind it.
class ReplacedChars {
 public:
  explicit ReplacedChars(const AlignedText::TakeChanged& take) : take_(take) {}

  void keep(char32_t code) { put({code, 0}); }

  // Where what replaces a part has more characters, the last are new; where it has fewer, the last takes up the rest.
  void replace(std::string_view part, std::string_view by) {
    is_changed_ = true;
    const std::vector<char32_t> before = code_points_of(part), after = code_points_of(by);
    for (std::size_t i = 0; i < after.size(); ++i) put({after[i], i < before.size() ? 0 : 1});
    const std::size_t fewer = before.size() - std::min(before.size(), after.size());
    if (fewer == 0) return;
    if (!last_) {
      dropped_ += fewer;
    } else if (last_->change > 0) {
      last_->change = 0;  // it was new, and now takes up what was removed behind it
      if (fewer > 1) last_->change -= static_cast<int>(fewer - 1);
    } else {
      last_->change -= static_cast<int>(fewer);
    }
  }

  void finish() {
    if (last_) take_(*last_);
  }
  bool is_changed() const { return is_changed_; }
  // How many characters were removed before the first that stays.
  std::size_t dropped() const { return dropped_; }

 private:
  void put(ChangedChar next) {
    if (last_) take_(*last_);
    last_ = next;
  }

  const AlignedText::TakeChanged& take_;
  std::optional<ChangedChar> last_;
  std::size_t dropped_ = 0;
  bool is_changed_ = false;
};

void replace_by(const Charsmap& map, CharsmapUse use, const std::string& all, ReplacedChars& to) {
  constexpr std::size_t longest_grapheme = 5;  // as in tokenizers: longer ones are looked up by characters
  const auto rest_from = [&](std::size_t at) { return std::string_view(all).substr(at); };
  if (use == CharsmapUse::as_sentencepiece) {
    for (std::size_t at = 0; at < all.size();) {
      const auto [code, size] = code_point_at(all, at);
      const auto found = map.find(rest_from(at), true);
      if (found) {
        to.replace(rest_from(at).substr(0, found->size), found->by);
      } else {
        to.keep(code);
      }
      at += found ? found->size : size;
    }
    return;
  }
  const auto is_replaced = [&](std::string_view part) {
    const auto found = map.find(part, false);
    if (found) to.replace(part, found->by);
    return found.has_value();
  };
  std::size_t begin = 0;
  put_grapheme_ends(all, [&](std::size_t end) {
    const std::string_view grapheme = rest_from(begin).substr(0, end - begin);
    if (grapheme.size() > longest_grapheme || !is_replaced(grapheme)) {
      for (std::size_t at = begin; at < end;) {
        const auto [code, size] = code_point_at(all, at);
        if (!is_replaced(rest_from(at).substr(0, size))) to.keep(code);
        at += size;
      }
    }
    begin = end;
  });
}

void change_by(const Charsmap& map, CharsmapUse use, AlignedText& text) {
  // First what is removed at the beginning.
  const AlignedText::TakeChanged nowhere = [](ChangedChar) {};
  ReplacedChars tried(nowhere);
  replace_by(map, use, text.text(), tried);
  if (!tried.is_changed()) return;
  const auto replaced = [&](const AlignedText::TakeChanged& take) {
    ReplacedChars to(take);
    replace_by(map, use, text.text(), to);
    to.finish();
  };
  text.change(replaced, tried.dropped());
}

}  // namespace

Normalize normalize_by_charsmap(std::string_view bytes, CharsmapUse use, const std::string& where) {
  if (bytes.empty()) return [](AlignedText&) {};
  return [map = std::make_shared<const Charsmap>(bytes, where), use](AlignedText& text) { change_by(*map, use, text); };
}

}  // namespace attn
