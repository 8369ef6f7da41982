#pragma once

#include <string_view>

namespace attn {

// The files of this folder that a page is made of, as they stand there; CMakeLists.txt compiles them in.

/// The files of a script, one after another: of the page of one computation, and of that of a lesson.
std::string_view page_script();
std::string_view lesson_script();
/// The rules for what scripts make, beside those of the HTML that every page has, and those for lessons
/// alone.
std::string_view browser_style();
std::string_view lesson_style();
/// What the reader chooses and changes, and where a number is explained: hidden until the script shows it.
std::string_view browser_controls();
std::string_view browser_explanation();

}  // namespace attn
