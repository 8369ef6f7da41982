#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"
#include "page/render/style.hpp"
#include "page/render/width.hpp"
#include "school/lesson/progress.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// What a reader of a lesson can do at a prompt.
enum class LessonAction { next, back, hint, skip, answer, explore, list, go, help, quit };

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

/// The keys of every prompt that asks for something. Where one does a thing of its own, a table of keys has
/// it with words of its own.
namespace key {
inline constexpr LessonKey next{"Enter", " next continue ", "next", "goes on", LessonAction::next, true, false};
inline constexpr LessonKey hint{
    "h", " hint hints ", "hint", "shows a hint, and then the next one", LessonAction::hint, false, true};
inline constexpr LessonKey answer{"a", " answer solution ", "answer", "shows the answer", LessonAction::answer, false,
                                  true};
inline constexpr LessonKey skip{"s", " skip ", "skip", "goes on without an answer", LessonAction::skip, false, true};
inline constexpr LessonKey explore{"explore",
                                   "",
                                   "a screen of all matrices",
                                   "opens a screen to walk about the matrices, where a question offers it",
                                   LessonAction::explore,
                                   false,
                                   false};
inline constexpr LessonKey help{"?", " help keys ", "help", "shows this list", LessonAction::help, true, true};
inline constexpr LessonKey quit{"q", " quit exit bye :q ", "quit", "ends", LessonAction::quit, true, true};
}  // namespace key

/// A key with other words about it.
constexpr LessonKey saying(LessonKey key, std::string_view does, std::string_view about) {
  key.does = does;
  key.about = about;
  return key;
}

/// A line that is a key and no answer. Of `go`: to which step, from 1.
struct KeyPress {
  LessonAction action;
  std::size_t step = 0;
};

/// Nothing: it is none of the keys. Upper and lower case are the same.
std::optional<KeyPress> key_press(std::string_view typed, std::span<const LessonKey> keys = lesson_keys());

/// What can be typed at a prompt: the keys that it shows, after a word of its own.
std::string prompt_of(std::span<const LessonKey> keys, bool LessonKey::*is_shown, std::string_view begin);

/// The keys, and what each of them does.
Block listing_of(std::span<const LessonKey> keys);

/// A terminal at which somebody reads pages and is asked for lines. No text scrolls away before the reader
/// has seen it.
class Conversation {
 public:
  Conversation(Terminal& terminal, const Style& style);

  /// Shows blocks of a page, which stay together where they fit on a screen. Behind a page that was left with
  /// q, nothing is shown until ask() has said so.
  void show(std::vector<Block> blocks);
  /// Shows a sentence.
  void say(std::string sentence);
  /// Asks for a line, below a line that says what can be typed. Nothing: there is no more input, or a page
  /// was left with q.
  std::optional<std::string> ask(std::string_view says);

  /// Runs a command line of the program that takes the whole terminal. Throws InputError.
  using RunHere = std::function<void(const std::vector<std::string>& words, Terminal& terminal, const Style& style)>;
  void runs_with(RunHere run) { run_ = std::move(run); }
  /// Opens a screen to walk about the computation of a question, after its keys; where there is none, that is said.
  void explore(const SolvedQuestion& solved);

 private:
  static constexpr std::size_t rows_to_ask = 3;

  Terminal& terminal_;
  Style style_;
  Pager pager_;
  bool left_ = false;  // whether a page was
  RunHere run_ = {};
};

/// The terminal at which a lesson is taken, with the file that keeps the progress.
class LessonTerminal : public Conversation {
 public:
  /// Throws InputError where `state` is another kind of file. A day is told in days since 1970.
  LessonTerminal(Terminal& terminal, const Style& style, std::string state, std::int64_t today = this_day());
  LessonTerminal(const LessonTerminal&) = delete;
  LessonTerminal& operator=(const LessonTerminal&) = delete;

  CourseProgress progress() { return kept_.progress(); }
  void change(const std::function<void(CourseProgress& progress)>& change) { kept_.change(change); }
  bool keeps_progress() const { return kept_.is_kept(); }
  std::int64_t today() const { return today_; }

 private:
  ProgressStore kept_;
  std::int64_t today_;
};

/// Where a question is asked.
struct QuestionContext {
  Conversation& conversation;
  std::span<const LessonKey> keys;  // that do something there
  std::string place;                // how far the reader is, at the beginning of the prompt: "3/9"
};

/// Who is told what becomes of a question.
struct AnswerListener {
  std::function<void(const std::string& typed, bool right)> answered;
  std::function<void()> gave_up;  // the reader wanted to see the answer
};

/// Asks a question until it is answered correctly, its answer is shown, or a key leads away from it. Returns
/// the key: that to the next step after a correct answer.
KeyPress ask(const SolvedQuestion& solved, const QuestionContext& at, const AnswerListener& kept);

/// The hints of a question or a puzzle, which a reader sees one after the other.
class Hints {
 public:
  /// `of` is what they belong to, and `then` what `a` shows after the last one: "question", "the answer".
  Hints(std::span<const std::string> hints, std::string_view of, std::string_view then)
      : hints_(hints), of_(of), then_(then) {}

  /// What there is to do after a miss: to type h or a.
  std::string advice() const;
  /// A sentence has told the next one, if it ends with it.
  void note_told(std::string_view sentence);
  /// Shows the next one, or says that there is none.
  void show_next(Conversation& conversation);

 private:
  bool has_more() const { return shown_ < hints_.size(); }

  std::span<const std::string> hints_;
  std::string_view of_, then_;
  std::size_t shown_ = 0;
};

}  // namespace attn
