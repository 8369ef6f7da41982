#include "data/tokenizer/normalizers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/tokenizer/pattern.hpp"
#include "data/tokenizer/tokenizer.hpp"

namespace attn {

// --- what several have

Normalize in_sequence(std::vector<Normalize> all) {
  return [all = std::move(all)](AlignedText& text) {
    for (const Normalize& one : all) one(text);
  };
}

Normalize prepend_text(std::string what) {
  return [what = std::move(what)](AlignedText& text) { text.prepend(what); };
}

Normalize replace_text(std::string what, std::string by) {
  return [find = parts_by_text(std::move(what)), by = std::move(by)](AlignedText& text) {
    text.replace(matches_of(find(text.text())), by);
  };
}

namespace {

void strip_spaces(AlignedText& text, bool left, bool right) {
  const std::vector<char32_t> all = code_points_of(text.text());
  std::size_t begin = 0, end = all.size();
  while (left && begin < end && is_white_space(all[begin])) ++begin;
  while (right && end > begin && is_white_space(all[end - 1])) --end;
  if (begin == 0 && end == all.size()) return;
  std::vector<ChangedChar> kept;
  for (std::size_t i = begin; i < end; ++i) kept.push_back({all[i], 0});
  text.change(kept, begin);
}

bool is_no_accent(char32_t c) { return !is_nonspacing_mark(c); }
bool is_no_mark(char32_t c) { return !is_mark(c); }

void lower(AlignedText& text) {
  std::vector<ChangedChar> to;
  for (const char32_t c : code_points_of(text.text())) {
    int change = 0;
    for (const char32_t small : lower_case_of(c)) {
      to.push_back({small, change});
      change = 1;
    }
  }
  text.change(to);
}

void change_form(AlignedText& text, NormalForm form) { text.change(normal_form_of(text.text(), form)); }

// Chinese characters as Devlin et al. 2019 count them: not Hangul, and not the signs of Japanese.
bool is_chinese(char32_t c) {
  struct Block {
    char32_t first, last;
  };
  constexpr std::array<Block, 8> blocks = {{{0x4E00, 0x9FFF},
                                            {0x3400, 0x4DBF},
                                            {0x20000, 0x2A6DF},
                                            {0x2A700, 0x2B73F},
                                            {0x2B740, 0x2B81F},
                                            {0x2B920, 0x2CEAF},
                                            {0xF900, 0xFAFF},
                                            {0x2F800, 0x2FA1F}}};
  return std::ranges::any_of(blocks, [=](const Block& block) { return c >= block.first && c <= block.last; });
}

bool is_kept_clean(char32_t c) {
  if (c == U'\t' || c == U'\n' || c == U'\r') return true;
  return c != 0 && c != 0xFFFD && !is_control(c);
}

}  // namespace

Normalize remove_extra_spaces() {
  return [](AlignedText& text) {
    std::vector<ByteRange> extra;
    const std::string& all = text.text();
    for (std::size_t at = 0; (at = all.find(' ', at)) != std::string::npos;) {
      const std::size_t end = std::min(all.find_first_not_of(' ', at), all.size());
      const std::size_t kept = at == 0 || end == all.size() ? 0 : 1;
      if (end - at > kept) extra.push_back({at + kept, end});
      at = end;
    }
    text.replace(extra, "");
  };
}

Normalize normalize_as_bert(bool cleans, bool separates_chinese, bool strips_accents, bool lowers) {
  return [=](AlignedText& text) {
    if (cleans) {
      text.keep_if(is_kept_clean);
      std::vector<ChangedChar> to;
      for (const char32_t c : code_points_of(text.text())) to.push_back({is_white_space(c) ? U' ' : c, 0});
      text.change(to);
    }
    if (separates_chinese) {
      std::vector<ChangedChar> to;
      for (const char32_t c : code_points_of(text.text())) {
        if (is_chinese(c)) {
          to.insert(to.end(), {{U' ', 0}, {c, 1}, {U' ', 1}});
        } else {
          to.push_back({c, 0});
        }
      }
      text.change(to);
    }
    if (strips_accents) {
      change_form(text, NormalForm::nfd);
      text.keep_if(is_no_accent);
    }
    if (lowers) lower(text);
  };
}

void write_bytes_as_signs(AlignedText& text) {
  std::vector<ChangedChar> to;
  const std::string& bytes = text.text();
  to.reserve(bytes.size());
  for (const char byte : bytes) {
    const bool begins = (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    to.push_back({sign_of_byte(static_cast<unsigned char>(byte)), begins ? 0 : 1});
  }
  text.change(to);
}

// --- the map of characters of sentencepiece

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
    std::size_t node = offset(units_[0]);
    for (std::size_t at = 0; at < text.size(); ++at) {
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
    // A value that points into a character is none.
    if (found && first_not_utf8(found->by)) return std::nullopt;
    return found;
  }

 private:
  static std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10U} << ((unit & (1U << 9U)) >> 6U); }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

// A part of a text is replaced by another: where this has more characters, the last are new; where it has fewer, the
// last takes up the rest.
void put_replacement(std::vector<ChangedChar>& to, std::size_t& dropped, std::string_view part, std::string_view by) {
  const std::vector<char32_t> before = code_points_of(part), after = code_points_of(by);
  for (std::size_t i = 0; i < after.size(); ++i) to.push_back({after[i], i < before.size() ? 0 : 1});
  const std::size_t fewer = before.size() - std::min(before.size(), after.size());
  if (fewer == 0) return;
  if (to.empty()) {
    dropped += fewer;
  } else if (to.back().change > 0) {
    to.back().change = 0;  // it was new, and now takes up what was removed behind it
    if (fewer > 1) to.back().change -= static_cast<int>(fewer - 1);
  } else {
    to.back().change -= static_cast<int>(fewer);
  }
}

void change_by(const Charsmap& map, CharsmapUse use, AlignedText& text) {
  constexpr std::size_t longest_grapheme = 5;  // as in tokenizers: longer ones are looked up by characters
  const std::string& all = text.text();
  std::vector<ChangedChar> to;
  std::size_t dropped = 0;
  bool is_changed = false;
  const auto keep = [&](std::size_t at) {
    const auto [code, size] = code_point_at(all, at);
    to.push_back({code, 0});
    return size;
  };
  if (use == CharsmapUse::as_sentencepiece) {
    for (std::size_t at = 0; at < all.size();) {
      const auto found = map.find(std::string_view(all).substr(at), true);
      if (!found) {
        at += keep(at);
        continue;
      }
      is_changed = true;
      put_replacement(to, dropped, std::string_view(all).substr(at, found->size), found->by);
      at += found->size;
    }
  } else {
    const auto replace = [&](std::string_view part) {
      const auto found = map.find(part, false);
      if (!found) return false;
      is_changed = true;
      put_replacement(to, dropped, part, found->by);
      return true;
    };
    std::size_t begin = 0;
    for (const std::size_t end : grapheme_ends(all)) {
      const std::string_view grapheme = std::string_view(all).substr(begin, end - begin);
      if (grapheme.size() > longest_grapheme || !replace(grapheme)) {
        for (std::size_t at = begin, size; at < end; at += size) {
          size = code_point_at(all, at).size;
          if (!replace(std::string_view(all).substr(at, size))) keep(at);
        }
      }
      begin = end;
    }
  }
  if (is_changed) text.change(to, dropped);
}

}  // namespace

Normalize normalize_by_charsmap(std::string_view bytes, CharsmapUse use, const std::string& where) {
  if (bytes.empty()) return [](AlignedText&) {};
  return [map = std::make_shared<const Charsmap>(bytes, where), use](AlignedText& text) { change_by(*map, use, text); };
}

// --- tokenizer.json

namespace {

std::string from_base64(std::string_view text, const TokenizerSettings& settings) {
  constexpr std::string_view signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, std::min(text.find('='), text.size()))) {
    const std::size_t value = signs.find(c);
    if (value == std::string_view::npos) settings.refuse("precompiled_charsmap", "bytes in base64");
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return bytes;
}

Normalize read_bert_normalizer(const TokenizerSettings& settings) {
  const bool lowers = settings.flag_or("lowercase", true);
  return normalize_as_bert(settings.flag_or("clean_text", true), settings.flag_or("handle_chinese_chars", true),
                           settings.flag_or("strip_accents", lowers), lowers);
}

Normalize read_replace(const TokenizerSettings& settings) {
  const std::string by = settings.text("content");
  const TokenizerSettings pattern = settings.object("pattern");
  if (pattern.has("String")) return replace_text(pattern.text("String"), by);
  return [find = parts_by_expression(pattern.text("Regex"), pattern.place()), by](AlignedText& text) {
    text.replace(matches_of(find(text.text())), by);
  };
}

template <NormalForm form>
Normalize read_form(const TokenizerSettings&) {
  return [](AlignedText& text) { change_form(text, form); };
}

struct NormalizerRow {
  std::string_view name;
  Normalize (*read)(const TokenizerSettings& settings);
};

Normalize read_normalizer_sequence(const TokenizerSettings& settings) {
  std::vector<Normalize> all;
  for (const TokenizerSettings& one : settings.list("normalizers")) all.push_back(read_normalizer(one));
  return in_sequence(std::move(all));
}

constexpr std::array normalizer_rows = {
    NormalizerRow{"NFC", read_form<NormalForm::nfc>},
    NormalizerRow{"NFD", read_form<NormalForm::nfd>},
    NormalizerRow{"NFKC", read_form<NormalForm::nfkc>},
    NormalizerRow{"NFKD", read_form<NormalForm::nfkd>},
    NormalizerRow{"Lowercase", [](const TokenizerSettings&) -> Normalize { return lower; }},
    NormalizerRow{
        "StripAccents",
        [](const TokenizerSettings&) -> Normalize { return [](AlignedText& text) { text.keep_if(is_no_mark); }; }},
    NormalizerRow{"Strip",
                  [](const TokenizerSettings& settings) -> Normalize {
                    return [left = settings.flag_or("strip_left", true), right = settings.flag_or("strip_right", true)](
                               AlignedText& text) { strip_spaces(text, left, right); };
                  }},
    NormalizerRow{"Prepend", [](const TokenizerSettings& settings) { return prepend_text(settings.text("prepend")); }},
    NormalizerRow{"Replace", read_replace},
    NormalizerRow{"BertNormalizer", read_bert_normalizer},
    NormalizerRow{"ByteLevel", [](const TokenizerSettings&) -> Normalize { return write_bytes_as_signs; }},
    NormalizerRow{"Precompiled",
                  [](const TokenizerSettings& settings) {
                    return normalize_by_charsmap(from_base64(settings.text_or("precompiled_charsmap", ""), settings),
                                                 CharsmapUse::as_tokenizers, settings.place());
                  }},
    NormalizerRow{"Sequence", read_normalizer_sequence},
};

}  // namespace

void compose_characters(AlignedText& text) { change_form(text, NormalForm::nfc); }

Normalize read_normalizer(const TokenizerSettings& settings) {
  const std::string type = settings.type();
  std::vector<std::string> known;
  for (const NormalizerRow& row : normalizer_rows) {
    if (row.name == type) return row.read(settings);
    known.emplace_back(row.name);
  }
  refuse_type(settings, "normalizer", known);
}

}  // namespace attn
