#include "core/support/utf8.hpp"

#include <utf8proc.h>

#include <array>

#include "core/support/error.hpp"

namespace attn {

namespace {

const utf8proc_uint8_t* bytes_from(std::string_view text, std::size_t at) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80U) return {first, 1};
  utf8proc_int32_t code = 0;
  const auto size = utf8proc_iterate(bytes_from(text, at), static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (size <= 0) return {0xFFFD, 1};
  return {static_cast<char32_t>(code), static_cast<std::size_t>(size)};
}

void append_code_point(std::string& text, char32_t code) {
  if (code < 0x80U) {
    text += static_cast<char>(code);
    return;
  }
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

std::vector<char32_t> code_points_of(std::string_view text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, size] = code_point_at(text, at);
    codes.push_back(code);
    at += size;
  }
  return codes;
}

std::optional<std::size_t> first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80U) {
      ++at;
      continue;
    }
    utf8proc_int32_t code = 0;
    const auto size = utf8proc_iterate(bytes_from(text, at), static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (size <= 0) return at;
    at += static_cast<std::size_t>(size);
  }
  return std::nullopt;
}

void require_utf8(std::string_view text, std::string_view what) {
  if (const auto at = first_not_utf8(text)) {
    fail("{} is not UTF-8 at byte {}: convert it, for example with iconv", what, *at + 1);
  }
}

std::string with_replacements(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    const std::size_t good = first_not_utf8(rest).value_or(rest.size());
    text += rest.substr(0, good);
    at += good;
    if (at == bytes.size()) break;
    append_code_point(text, 0xFFFD);
    // What begins like a character and breaks off is one mistake (Unicode Standard, section 3.9).
    const auto first = static_cast<unsigned char>(bytes[at]);
    const std::size_t meant = first >= 0xF0U && first <= 0xF4U ? 4 : first >= 0xE0U ? 3 : first >= 0xC2U ? 2 : 1;
    const auto second_fits = [&](unsigned char second) {
      if (first == 0xE0U) return second >= 0xA0U;
      if (first == 0xEDU) return second < 0xA0U;
      if (first == 0xF0U) return second >= 0x90U;
      if (first == 0xF4U) return second < 0x90U;
      return first < 0xF5U;
    };
    std::size_t taken = 1;
    while (taken < meant && at + taken < bytes.size()) {
      const char next = bytes[at + taken];
      if (!continues_character(next) || (taken == 1 && !second_fits(static_cast<unsigned char>(next)))) break;
      ++taken;
    }
    at += taken;
  }
  return text;
}

}  // namespace attn
