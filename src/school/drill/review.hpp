#pragma once

#include <string>
#include <vector>

#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"

namespace attn {

/// The drills that a lesson names in its text, as code: `attn drill softmax scale`.
std::vector<std::string> drills_named(const Lesson& lesson);

/// Asks again what was missed, in one lesson or in the whole course. Then one question of each finished lesson
/// that comes back today, or of the one lesson at any time: a problem of its drills, with other numbers, or where
/// it names none one of its own questions.
void review_course(const Lesson* only, const RunCommand& run, LessonTerminal& terminal);

}  // namespace attn
