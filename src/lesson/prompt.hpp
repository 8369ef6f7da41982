#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lesson/progress.hpp"
#include "render/pager.hpp"
#include "render/style.hpp"
#include "support/terminal.hpp"

namespace attn {

/// What a reader of a lesson can do at a prompt.
enum class LessonAction { next, back, hint, skip, answer, list, go, help, quit };

/// What does it: a letter, or a word.
struct LessonKey {
  std::string_view name;   // as a prompt shows it: "h"
  std::string_view words;  // that do the same, with blanks around each
  std::string_view does;   // in a word or three, for the prompt
  std::string_view about;  // the same in a sentence, for help
  LessonAction action;
  bool at_pauses, at_questions;  // whether the prompt there shows it; each means the same wherever it can
};
std::span<const LessonKey> lesson_keys();

/// A line that is a key and no answer. Of `go`: to which step, from 1.
struct KeyPress {
  LessonAction action;
  std::size_t step = 0;
};

/// Nothing: it is no key. Upper and lower case are the same.
std::optional<KeyPress> key_press(std::string_view typed);

/// The terminal at which a lesson is taken, with its style and the file that keeps the progress. No text
/// scrolls away before the reader has seen it. Where the progress cannot be kept, it says so once and goes
/// on.
class LessonTerminal {
 public:
  /// Throws InputError where `state` is another kind of file.
  LessonTerminal(Terminal& terminal, const Style& style, std::string state);

  /// Shows blocks of a page, which stay together where they fit on a screen.
  void show(std::vector<Block> blocks);
  /// Asks for a line, below a line that says what can be typed. Nothing: there is no more input, or a page
  /// was left with q.
  std::optional<std::string> ask(std::string_view says);

  /// As this and all other terminals have left it.
  CourseProgress progress();
  /// Changes the progress and keeps it. No other terminal changes it between its being read and written.
  void change(const std::function<void(CourseProgress& progress)>& change);
  bool keeps_progress() const { return keeps_; }

 private:
  static constexpr std::size_t rows_to_ask = 3;

  void try_to_keep(const std::function<void()>& action);
  CourseProgress read();

  Terminal& terminal_;
  Style style_;
  std::string state_;
  Pager pager_;
  bool left_ = false;        // whether a page was
  bool keeps_ = true;        // whether the file is written
  CourseProgress progress_;  // as it was known last
};

}  // namespace attn
