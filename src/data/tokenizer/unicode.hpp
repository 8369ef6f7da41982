#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/utf8.hpp"

namespace attn {

// Characters, as tokenizers ask for them.

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
