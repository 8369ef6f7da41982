#pragma once

#include <optional>

#include "lesson/lesson.hpp"
#include "lesson/prompt.hpp"

namespace attn {

/// Whether a lesson was taken to its end, or left before it.
enum class SessionEnd { finished, left };

/// Takes a lesson step by step: from this step (counted from 0), or from where it was left. Progress is saved
/// after every step and every answer.
SessionEnd take(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal,
                std::optional<std::size_t> step = {});

/// Asks again what was missed in a lesson, each question with what it is about. A question that is answered
/// at the first try is no longer missed.
SessionEnd review(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal);

}  // namespace attn
