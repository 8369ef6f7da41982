#pragma once

#include <string>
#include <vector>

#include "lesson/lesson.hpp"
#include "lesson/progress.hpp"

namespace attn {

// A whole lesson as one page, where there is no terminal.

/// All of it, and the answer after each question.
std::vector<Block> with_answers(const Lesson& lesson, const LessonResult& result);

/// All of it with answers from a file, and how many of them are wrong.
struct Graded {
  std::vector<Block> blocks;
  std::size_t wrong = 0;
};

/// One answer for each question, in order. Throws InputError when there are more or fewer.
Graded graded(const Lesson& lesson, const LessonResult& result, const std::vector<std::string>& answers);

/// What a file of progress would hold of these answers. Throws as graded does.
LessonProgress answered(const Lesson& lesson, const LessonResult& result,
                        const std::vector<std::string>& answers);

/// The answers in a file: one in each line that is not empty and does not begin with #.
std::vector<std::string> answers_in(std::string_view text);

// A lesson to hand in or to print: its text, what its commands print, and what was answered.

/// As Markdown without marks and front matter.
std::string exported_markdown(const Lesson& lesson, const LessonResult& result,
                              const LessonProgress& progress);

/// As a page of HTML that needs nothing else but the pictures that the lesson names.
std::string exported_html(const Lesson& lesson, const LessonResult& result, const LessonProgress& progress);

}  // namespace attn
