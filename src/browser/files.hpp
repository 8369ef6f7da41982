#pragma once

#include <string_view>

namespace attn {

// The files of this folder that a page is made of, as they stand there; CMakeLists.txt compiles them in.

/// The files of the script, one after another.
std::string_view browser_script();
/// The rules for what the script makes, beside those of the HTML that every page has.
std::string_view browser_style();
/// What the reader chooses and changes, and where a number is explained: hidden until the script shows it.
std::string_view browser_controls();
std::string_view browser_explanation();

}  // namespace attn
