#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Characters, as tokenizers ask for them.

/// A character of a text, and how many bytes it takes there.
struct CodePoint {
  char32_t code;
  std::size_t size;
};

/// The character that begins at a byte of a text that is UTF-8.
CodePoint code_point_at(std::string_view text, std::size_t at);
void append_code_point(std::string& text, char32_t code);
std::vector<char32_t> code_points_of(std::string_view text);
/// The first byte that is no UTF-8; nothing: all of it is.
std::optional<std::size_t> first_not_utf8(std::string_view text);
/// Throws InputError, where a text is not UTF-8.
void require_utf8(std::string_view text, std::string_view what);
/// The text with U+FFFD in place of what is not UTF-8.
std::string with_replacements(std::string_view bytes);

// Properties of characters (Unicode Standard Annex 44).
bool is_white_space(char32_t c);
bool is_numeric(char32_t c);          // Nd, Nl, No
bool is_punctuation(char32_t c);      // P, and all of ASCII that is neither letter, digit nor control
bool is_nonspacing_mark(char32_t c);  // Mn
bool is_mark(char32_t c);             // M
bool is_control(char32_t c);          // C, without what is not assigned
bool is_word_character(char32_t c);   // \w of Unicode Technical Standard 18
bool is_printed(char32_t c);          // it has a shape of its own, or joins one before it

/// The lower case of a character by itself: i and a dot above for İ.
std::u32string lower_case_of(char32_t c);

/// A character in the place of others, as a normalization makes it: `change` is 0 where it takes the place of one, 1
/// where it is new, and −n where it takes the place of one and n more after it.
struct ChangedChar {
  char32_t code;
  int change;
};

/// Hands on the normalization forms of Unicode Standard Annex 15, with where each character came from.
enum class NormalForm { nfc, nfd, nfkc, nfkd };
void put_normal_form(std::string_view text, NormalForm form, const std::function<void(ChangedChar)>& take);

/// Hands on the ends of the extended grapheme clusters of a text (Unicode Standard Annex 29).
void put_grapheme_ends(std::string_view text, const std::function<void(std::size_t end)>& take);

/// The printable character that stands for a byte in a byte-level vocabulary (Radford et al. 2019): Ġ for a space.
char32_t sign_of_byte(unsigned char byte);
/// The byte that a character stands for; nothing: it stands for none.
std::optional<unsigned char> byte_of_sign(char32_t sign);
/// All bytes in the order of their signs.
const std::vector<unsigned char>& bytes_in_order_of_signs();

}  // namespace attn
