#pragma once

#include <string>
#include <string_view>

#include "page/render/drawing.hpp"
#include "page/render/picture.hpp"

namespace attn {

/// What LaTeX and TikZ heed of a style besides what all formats do.
struct TexSettings {
  bool standalone = false;     // as a whole document, not as a part of one
  bool shading = false;        // of cells in LaTeX
  bool tells_numbers = false;  // in place of a character that LaTeX has no sign for
};

/// Any text as text of LaTeX in plain ASCII, which every engine and every font shows. A character that they
/// have no sign for is told by its number in Unicode, as "U+1F600".
std::string in_tex(std::string_view text);

/// The text with only the characters that they have a sign for; others are told by their numbers in Unicode. What is
/// laid out for LaTeX is measured so.
std::string with_character_numbers(std::string_view text);

/// Whether a part of the text is told by its number.
bool has_numbers_in_tex(std::string_view text);

/// How wide the text is, about, in digits of the same font; rather too much than too little.
double width_in_tex(std::string_view text);

/// The same as in_tex, in which long words may break.
std::string breakable(std::string_view text);

/// Words with “quotation marks”, as prose has them: one opens where a word may begin. `before` stands before them.
std::string with_quotation_marks(std::string_view words, char before);

/// How wide the widest line of a formula is, about, in letters: commands are signs, and what is below or above is
/// small.
double widest_line_of(std::string_view lines);

/// The unit that drawings for TikZ are laid out in: 0.7 pt, in which a letter of 8 pt is 6 wide.
constexpr Metrics tikz_units{.column = 6, .line = 14, .limit = 480, .slanted = true};

/// A drawing laid out in these units as a picture of TikZ, no wider than a line and no higher than a page.
std::string tikz_of(const Drawing& drawing);
/// The same of several drawings, in light or in dark colors; as large as it comes, unless it has to fit a page.
std::string tikz_of(const Picture& picture, const Style& style, bool fits_page);
/// A product as people draw it, in these units.
Picture picture_in_tikz(const ProductBlock& product, const Style& style);

}  // namespace attn
