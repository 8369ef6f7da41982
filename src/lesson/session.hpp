#pragma once

#include <string>

#include "lesson/lesson.hpp"
#include "lesson/terminal.hpp"
#include "render/style.hpp"

namespace attn {

/// Where somebody takes a lesson, how it looks there, and which file keeps the progress.
struct Desk {
  Terminal& terminal;
  Style style;
  std::string state;
};

/// Takes a lesson step by step, from where it was left, until its end or until somebody quits. Progress is
/// saved after every step and every answer.
void take(const Lesson& lesson, const WorkedLesson& worked, const Desk& desk);

}  // namespace attn
