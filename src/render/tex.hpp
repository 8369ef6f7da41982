#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Any text as text of LaTeX in plain ASCII, which every engine and every font shows. A character that they
/// have no sign for is told by its number in Unicode, as "U+1F600".
std::string in_tex(std::string_view text);

/// Whether a part of the text is told by its number.
bool has_numbers_in_tex(std::string_view text);

/// How wide the text is, about, in digits of the same font; rather too much than too little.
double width_in_tex(std::string_view text);

}  // namespace attn
