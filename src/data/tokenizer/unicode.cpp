#include "data/tokenizer/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "core/support/error.hpp"

namespace attn {

namespace {

// --- properties

utf8proc_category_t category_of(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

// --- normalization forms

int combining_class_of(char32_t c) {
  return c < 0x300U ? 0 : utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// The character that two are when they are composed; 0: they stay two.
char32_t composed(char32_t one, char32_t other) {
  std::array<utf8proc_int32_t, 4> pair = {static_cast<utf8proc_int32_t>(one), static_cast<utf8proc_int32_t>(other)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  return utf8proc_normalize_utf32(pair.data(), 2, options) == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

std::vector<ChangedChar> decomposed(std::string_view text, bool compatibly) {
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (compatibly ? UTF8PROC_COMPAT : 0));
  std::vector<ChangedChar> all;
  all.reserve(text.size());
  std::size_t starter = 0;  // from where on marks may still change their order
  const auto put_in_order = [&] {
    std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(starter), all.end(),
                     [](const ChangedChar& a, const ChangedChar& b) {
                       return combining_class_of(a.code) < combining_class_of(b.code);
                     });
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, size] = code_point_at(text, at);
    at += size;
    std::array<utf8proc_int32_t, 32> parts{};
    utf8proc_ssize_t count = 1;
    parts[0] = static_cast<utf8proc_int32_t>(code);
    if (code >= 0x80U) {
      int boundary = 0;
      count = utf8proc_decompose_char(parts[0], parts.data(), static_cast<utf8proc_ssize_t>(parts.size()), options,
                                      &boundary);
      if (count < 0 || static_cast<std::size_t>(count) > parts.size()) {
        parts[0] = static_cast<utf8proc_int32_t>(code);
        count = 1;
      }
    }
    for (utf8proc_ssize_t part = 0; part < count; ++part) {
      const auto c = static_cast<char32_t>(parts[static_cast<std::size_t>(part)]);
      if (combining_class_of(c) == 0) {
        put_in_order();
        starter = all.size() + 1;
      }
      all.push_back({c, part == 0 ? 0 : 1});
      starter = std::min(starter, all.size());
    }
  }
  put_in_order();
  return all;
}

// The canonical composition of Unicode Standard Annex 15: what a character takes up is counted where it stands.
std::vector<ChangedChar> recomposed(const std::vector<ChangedChar>& all) {
  std::vector<ChangedChar> result;
  result.reserve(all.size());
  std::optional<std::size_t> starter;
  int last_class = 0;        // of what stands behind the starter and was not composed with it
  bool is_adjacent = false;  // nothing stands between
  for (const ChangedChar& next : all) {
    const int its_class = combining_class_of(next.code);
    if (starter && (is_adjacent || last_class < its_class)) {
      if (const char32_t one = composed(result[*starter].code, next.code)) {
        result[*starter] = {one, result[*starter].change + next.change - 1};
        continue;
      }
    }
    if (its_class == 0) {
      starter = result.size();
      is_adjacent = true;
    } else {
      is_adjacent = false;
    }
    last_class = its_class;
    result.push_back(next);
  }
  return result;
}

// --- bytes as characters

bool stands_for_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

std::array<char32_t, 256> make_signs() {
  std::array<char32_t, 256> signs{};
  char32_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) signs[byte] = stands_for_itself(byte) ? byte : next++;
  return signs;
}

}  // namespace

// --- properties

bool is_white_space(char32_t c) {
  if (c < 0x80U) return c == U' ' || (c >= 9 && c <= 13);
  if (c == 0x85U) return true;
  const auto category = category_of(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_numeric(char32_t c) {
  const auto category = category_of(c);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80U) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  }
  const auto category = category_of(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_nonspacing_mark(char32_t c) { return category_of(c) == UTF8PROC_CATEGORY_MN; }

bool is_mark(char32_t c) {
  const auto category = category_of(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

bool is_control(char32_t c) {
  const auto category = category_of(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO ||
         category == UTF8PROC_CATEGORY_CS;
}

bool is_word_character(char32_t c) {
  const auto category = category_of(c);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ND) return true;  // letters, marks, digits
  if (category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC) return true;
  if (c == 0x200C || c == 0x200D) return true;
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

bool is_printed(char32_t c) {
  if (c < 0x80U) return c > 32 && c < 127;
  return !is_control(c) && category_of(c) != UTF8PROC_CATEGORY_CN && !is_white_space(c);
}

std::u32string lower_case_of(char32_t c) {
  if (c == 0x130) return U"i\u0307";
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)))};
}

// --- normalization forms

void put_normal_form(std::string_view text, NormalForm form, const std::function<void(ChangedChar)>& take) {
  // No character of ASCII is composed with one before it, or changes its place: before it a text may be cut.
  constexpr std::size_t part = 4096;
  while (!text.empty()) {
    std::size_t end = std::min(part, text.size());
    while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80U) ++end;
    const std::vector<ChangedChar> all =
        decomposed(text.substr(0, end), form == NormalForm::nfkc || form == NormalForm::nfkd);
    const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
    std::ranges::for_each(composes ? recomposed(all) : all, take);
    text.remove_prefix(end);
  }
}

void put_grapheme_ends(std::string_view text, const std::function<void(std::size_t end)>& take) {
  utf8proc_int32_t state = 0;
  std::optional<char32_t> before;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, size] = code_point_at(text, at);
    if (before && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(*before),
                                                   static_cast<utf8proc_int32_t>(code), &state)) {
      take(at);
    }
    before = code;
    at += size;
  }
  if (!text.empty()) take(text.size());
}

// --- bytes as characters

char32_t sign_of_byte(unsigned char byte) {
  static const std::array<char32_t, 256> signs = make_signs();
  return signs[byte];
}

const std::vector<unsigned char>& bytes_in_order_of_signs() {
  static const std::vector<unsigned char> bytes = [] {
    std::vector<unsigned char> all;
    for (unsigned byte = 0; byte < 256; ++byte) all.push_back(static_cast<unsigned char>(byte));
    std::ranges::sort(all, {}, sign_of_byte);
    return all;
  }();
  return bytes;
}

std::optional<unsigned char> byte_of_sign(char32_t sign) {
  static const std::vector<std::optional<unsigned char>> bytes = [] {
    std::vector<std::optional<unsigned char>> all(512);
    for (const unsigned char byte : bytes_in_order_of_signs()) all[sign_of_byte(byte)] = byte;
    return all;
  }();
  return sign < bytes.size() ? bytes[sign] : std::nullopt;
}

}  // namespace attn
