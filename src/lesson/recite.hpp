#pragma once

#include <string>
#include <vector>

#include "lesson/lesson.hpp"
#include "lesson/progress.hpp"

namespace attn {

// A lesson in one go, where nobody is at a terminal.

/// All of it, and the answer after each question.
std::vector<Block> recited(const Lesson& lesson, const WorkedLesson& worked);

/// All of it with somebody's answers, and how many of them are wrong.
struct Graded {
  std::vector<Block> blocks;
  std::size_t wrong = 0;
};

/// One answer for each question, in order. Throws InputError when there are more or fewer.
Graded graded(const Lesson& lesson, const WorkedLesson& worked, const std::vector<std::string>& answers);

/// What a file of progress would hold of these answers. Throws as graded does.
LessonProgress answered(const Lesson& lesson, const WorkedLesson& worked,
                        const std::vector<std::string>& answers);

/// The answers in a file: one in each line that is not empty and does not begin with #.
std::vector<std::string> answers_in(std::string_view text);

}  // namespace attn
