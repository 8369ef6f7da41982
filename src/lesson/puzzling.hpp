#pragma once

#include <functional>
#include <span>

#include "document/living.hpp"
#include "lesson/asking.hpp"
#include "lesson/prompt.hpp"
#include "puzzle/puzzle.hpp"

namespace attn {

/// The keys at a puzzle that stands in no lesson.
std::span<const LessonKey> puzzle_keys();

/// Lets a reader set numbers until the puzzle is solved, or a key leads away from it, and shows what becomes
/// of them after each try. Returns the key: that to the next step where it is solved; `solved` is told
/// before.
KeyPress play(const Puzzle& puzzle, const RunCommand& run, const AskedAt& at,
              const std::function<void()>& solved);

/// Notes that a puzzle is solved, if it is built in.
void mark_solved(const Puzzle& puzzle, CourseProgress& progress);

}  // namespace attn
