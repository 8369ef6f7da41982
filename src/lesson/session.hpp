#pragma once

#include <optional>
#include <string>

#include "lesson/lesson.hpp"
#include "lesson/progress.hpp"
#include "render/pager.hpp"
#include "render/style.hpp"
#include "support/terminal.hpp"

namespace attn {

/// Where somebody takes a lesson: how it looks there, and which file keeps the progress. Nothing scrolls away
/// that was not seen.
class Desk {
 public:
  Desk(Terminal& terminal, const Style& style, std::string state)
      : terminal_(terminal), style_(style), state_(std::move(state)), pager_(terminal, style, rows_to_ask) {}

  /// Shows blocks of a page.
  void show(std::vector<Block> blocks);
  /// Asks for a line, below a line that says what can be typed. Nothing: there is no more input.
  std::optional<std::string> ask(std::string_view says);

  CourseProgress progress() const { return read_progress(state_); }
  void save(const CourseProgress& progress) { terminal_.save({state_, bytes_of(progress)}); }

 private:
  static constexpr std::size_t rows_to_ask = 3;

  Terminal& terminal_;
  Style style_;
  std::string state_;
  Pager pager_;
};

/// Whether a lesson was taken to its end, or left before it.
enum class Ended { finished, left };

/// Takes a lesson step by step: from this step (counted from 0), or from where it was left. Progress is saved
/// after every step and every answer.
Ended take(const Lesson& lesson, const WorkedLesson& worked, Desk& desk,
           std::optional<std::size_t> step = {});

/// Asks again what was missed in a lesson, each question with what it is about. A question that is answered
/// at the first try is no longer missed.
Ended review(const Lesson& lesson, const WorkedLesson& worked, Desk& desk);

}  // namespace attn
