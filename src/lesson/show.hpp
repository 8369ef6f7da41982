#pragma once

#include <optional>
#include <vector>

#include "lesson/lesson.hpp"
#include "lesson/progress.hpp"

namespace attn {

/// The title of a lesson and what it says of itself.
std::vector<Block> opening_of(const Lesson& lesson);

/// A step without its question: its text, its command lines and what they print.
std::vector<Block> shown(const Lesson& lesson, const LessonStep& step, const WorkedLesson& worked);

/// A question, with its choices.
std::vector<Block> shown(const Question& question);

/// The lesson as Markdown without marks and front matter; its questions with what was answered.
std::string exported(const Lesson& lesson, const WorkedLesson& worked, const LessonProgress& progress);

/// A whole page of HTML around what html_of makes of Markdown.
std::string html_page(const std::string& title, const std::string& markdown);

}  // namespace attn
