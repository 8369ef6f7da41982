#pragma once

#include <string>

#include "lesson/lesson.hpp"
#include "lesson/progress.hpp"

namespace attn {

// A lesson to hand in or to print: its text, what its commands print, and what was answered.

/// As Markdown without marks and front matter.
std::string exported_markdown(const Lesson& lesson, const WorkedLesson& worked,
                              const LessonProgress& progress);

/// As a page of HTML that needs nothing else: its formulas are plain text.
std::string exported_html(const Lesson& lesson, const WorkedLesson& worked, const LessonProgress& progress);

}  // namespace attn
