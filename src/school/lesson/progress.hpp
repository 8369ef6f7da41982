#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "school/lesson/lesson.hpp"

namespace attn {

/// A reader's answer to a question.
struct AnswerRecord {
  std::string text;     // the last answer
  bool right = false;   // whether it is correct
  bool first = false;   // whether the very first answer was
  bool missed = false;  // whether to ask again: an answer was wrong, or the solution was shown
};

/// How a finished lesson comes back in reviews.
struct Repetition {
  std::int64_t day = 0;        // of its end, or of its last review, in days since 1970
  std::size_t remembered = 0;  // reviews in a row whose question was answered at the first try
  std::size_t times = 0;       // reviews in all

  bool operator==(const Repetition&) const = default;
};

/// Today, in days since 1970.
std::int64_t this_day();

/// The progress in a lesson. Steps and questions are known by their text: when a lesson is edited,
/// what has not changed stays done and answered.
struct LessonProgress {
  std::vector<std::string> done;                // the keys of steps
  std::map<std::string, AnswerRecord> answers;  // by the key of the question's step
  std::optional<Repetition> repetition;         // once it is finished
};

/// The day on which a finished lesson comes back in a review: 1 day after its end, and after 3, 7 and then always
/// 21 days when its question was answered at the first try. Where its end is not known, at once.
std::int64_t day_of_review(const LessonProgress& progress);

/// Of all lessons.
struct CourseProgress {
  std::map<std::string, LessonProgress> lessons;  // by name
  std::string last;                               // the name of the one that was taken last, or nothing
  std::set<std::string> puzzles;                  // the names of those that are solved
};

/// A state file as it was read.
struct ProgressFile {
  CourseProgress progress;
  bool is_damaged = false;  // empty, or only its beginning is there, as after a loss of power: no progress
};

/// No progress where there is no file. Throws InputError when it is something else than a state file.
ProgressFile read_progress(const std::string& path);

/// A name for a damaged state file that no other file has.
std::string name_aside(const std::string& path);

/// The bytes of a state file.
std::string bytes_of(const CourseProgress& progress);

/// What a lesson is called there: its name, or the path of an author's own.
std::string progress_name(const Lesson& lesson);

/// What each step is known by: a number made of its text, without the output. Steps that are alike are told
/// apart by their order.
std::vector<std::string> keys_of(const Lesson& lesson);

/// The progress in a lesson, in numbers. Predictions are no questions here: no answer to them is a miss. A question
/// for a reason is one once it was asked.
struct ProgressCounts {
  std::size_t steps = 0, done = 0;
  std::size_t questions = 0;
  std::size_t first = 0;   // correct at the first try
  std::size_t later = 0;   // correct, but not at once
  std::size_t missed = 0;  // to be asked again

  bool is_finished() const { return done == steps; }
  bool is_begun() const { return done > 0 || first + later + missed > 0; }
};
ProgressCounts counts_of(const Lesson& lesson, const LessonProgress& progress);

/// The file that keeps the progress, which other processes may change as well. Where it cannot be written,
/// this is told once, and what changes is known to this process alone.
class ProgressStore {
 public:
  using Tell = std::function<void(Text sentence)>;

  /// Throws InputError where `path` is another kind of file.
  ProgressStore(Terminal& terminal, std::string path, Tell tell);

  /// As this and all other processes have left it.
  CourseProgress progress();
  /// Changes the progress and keeps it. No other process changes it between its being read and written.
  void change(const std::function<void(CourseProgress& progress)>& change);
  bool is_kept() const { return is_kept_; }

 private:
  void try_to_keep(const std::function<void()>& action);
  CourseProgress read();

  Terminal& terminal_;
  std::string path_;
  Tell tell_;
  bool is_kept_ = true;
  CourseProgress progress_;  // as it was known last
};

}  // namespace attn
