#pragma once

#include <string>

#include "command/arguments.hpp"
#include "command/command.hpp"
#include "lesson/lesson.hpp"

namespace attn {

// The actions of attn lesson that have a file of their own, and what they share. All throw InputError.

/// `export`: a lesson as Markdown or HTML, or as a page for browsers.
Outcome export_lesson(const Arguments& arguments);
/// Whether --format asks for a page for browsers, which only `export` writes.
bool asks_for_page(const Arguments& arguments);

/// `new`, `check` and `coverage`, for authors.
Outcome begin_lesson(const Arguments& arguments);
Outcome check_lessons(const Arguments& arguments);
Outcome show_coverage(const Arguments& arguments);

/// The lesson that the first word behind the action names.
Lesson lesson_named(const Arguments& arguments);

/// Throws InputError if there is a file already, unless --yes is given.
void refuse_to_replace(const std::string& path, const Arguments& arguments);

/// Markdown as it is printed, where no file is to be written.
Block printed_markdown(const std::string& markdown);

}  // namespace attn
