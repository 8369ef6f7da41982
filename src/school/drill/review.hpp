#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"

namespace attn {

/// The drills that a lesson names in its text, as code: `attn drill softmax scale`.
std::vector<std::string> drills_named(const Lesson& lesson);

/// After how many days a finished lesson comes back: at first, and then each time that its question was
/// answered at the first try. (Spaced repetition; a question that was missed begins again with the first.)
std::span<const std::int64_t> days_between_reviews();

/// The day on which a finished lesson comes back, in days since 1970; at once where it is not known when it was
/// finished.
std::int64_t day_of_review(const LessonProgress& progress);

/// Asks again what was missed, in one lesson or in the whole course. Then one question of each finished lesson
/// that comes back today, or of the one lesson at any time: a problem of its drills, with other numbers, or where
/// it names none one of its own questions.
void review_course(const Lesson* only, const RunCommand& run, LessonTerminal& terminal);

}  // namespace attn
