#pragma once

#include <functional>
#include <optional>
#include <span>

#include "page/document/document_outputs.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"
#include "school/puzzle/puzzle.hpp"

namespace attn {

/// Whether a lesson was taken to its end, or left before it.
enum class SessionEnd { finished, left };

/// Takes a lesson step by step: from this step (counted from 0), or from where it was left. Progress is saved
/// after every step and every answer.
SessionEnd run_session(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal,
                       std::optional<std::size_t> step = {});

/// Asks again what was missed in a lesson, each question with what it is about. A question that is answered
/// at the first try is no longer missed. With a step, its question alone is asked, whether it was missed or not.
SessionEnd review(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal,
                  std::optional<std::size_t> step = {});

/// The keys at a puzzle that stands in no lesson.
std::span<const LessonKey> puzzle_keys();

/// Lets a reader set numbers until the puzzle is solved, or a key leads away from it, and shows what becomes
/// of them after each try. Returns the key: that to the next step where it is solved; `solved` is told
/// before.
KeyPress solve_puzzle(const Puzzle& puzzle, const RunCommand& run, const QuestionContext& at,
                      const std::function<void()>& solved);

/// Notes that a puzzle is solved, if it is built in.
void mark_solved(const Puzzle& puzzle, CourseProgress& progress);

}  // namespace attn
