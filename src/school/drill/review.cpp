#include "school/drill/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/drill/drill.hpp"
#include "school/lesson/session.hpp"
#include "school/lesson/show.hpp"

namespace attn {
namespace {

const LessonProgress& progress_in_lesson(const CourseProgress& progress, const Lesson& lesson) {
  static const LessonProgress none;
  const auto found = progress.lessons.find(progress_name(lesson));
  return found == progress.lessons.end() ? none : found->second;
}

bool is_finished(const CourseProgress& progress, const Lesson& lesson) {
  return counts_of(lesson, progress_in_lesson(progress, lesson)).is_finished();
}

// Asks one question of a lesson, and whether it was answered at the first try. Nothing: the reader leaves, or
// skips it.
class Recall {
 public:
  Recall(const Lesson& lesson, const RunCommand& run, LessonTerminal& terminal)
      : lesson_(lesson), run_(run), terminal_(terminal) {}

  SessionEnd ask() {
    const std::vector<std::string> names = drills_named(lesson_);
    return names.empty() ? ask_again() : ask_problem(names);
  }

 private:
  std::size_t times() const {
    const CourseProgress progress = terminal_.progress();
    const std::optional<Repetition>& repetition = progress_in_lesson(progress, lesson_).repetition;
    return repetition ? repetition->times : 0;
  }

  void note(bool remembered) {
    terminal_.change([&](CourseProgress& progress) {
      std::optional<Repetition>& repetition = progress.lessons[progress_name(lesson_)].repetition;
      if (!repetition) repetition.emplace();
      repetition->day = terminal_.today();
      repetition->remembered = remembered ? repetition->remembered + 1 : 0;
      ++repetition->times;
    });
  }

  SessionEnd ask_problem(const std::vector<std::string>& names) {
    const Drill drill = find_drill(names[times() % names.size()]);
    // Another seed each day and each time, so other numbers.
    const auto seed = static_cast<std::uint32_t>(terminal_.today() * 31 + static_cast<std::int64_t>(times()));
    const DrawnProblem drawn = DrillSeries({drill}, seed, run_).next();
    std::vector<Block> blocks = {Heading{2, text("With other numbers: ", lesson_.title)}};
    std::ranges::move(shown(drawn, run_), std::back_inserter(blocks));
    terminal_.show(std::move(blocks));
    bool missed = false;
    const AnswerListener kept{[&](const std::string&, bool right) { missed = missed || !right; },
                              [&] { missed = true; }};
    for (;;) {
      switch (attn::ask(drawn.solved, {terminal_, lesson_keys(), "review"}, kept).action) {
        case LessonAction::quit:
          return SessionEnd::left;
        case LessonAction::skip:
          return SessionEnd::finished;
        case LessonAction::next:
        case LessonAction::answer:
          note(!missed);
          terminal_.show(solution_of(drawn, run_));
          return SessionEnd::finished;
        default:
          terminal_.say("A review asks one question after another: s skips this one.");
      }
    }
  }

  SessionEnd ask_again() {
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      const std::optional<std::size_t> question = lesson_.steps[i].question;
      if (question && !lesson_.questions[*question].predicts) steps.push_back(i);
    }
    if (steps.empty()) return SessionEnd::finished;
    const std::size_t step = steps[times() % steps.size()];
    if (review(lesson_, execute(lesson_, run_), terminal_, step) == SessionEnd::left) return SessionEnd::left;
    const LessonProgress progress = progress_in_lesson(terminal_.progress(), lesson_);
    const auto answer = progress.answers.find(keys_of(lesson_)[step]);
    note(answer != progress.answers.end() && !answer->second.missed);
    return SessionEnd::finished;
  }

  const Lesson& lesson_;
  const RunCommand& run_;
  LessonTerminal& terminal_;
};

// "Lesson 3 comes back in 2 days."
std::string next_review(const std::vector<Lesson>& lessons, LessonTerminal& terminal) {
  const CourseProgress progress = terminal.progress();
  const Lesson* next = nullptr;
  std::int64_t day = 0;
  for (const Lesson& lesson : lessons) {
    if (!is_finished(progress, lesson)) continue;
    const std::int64_t its_day = day_of_review(progress_in_lesson(progress, lesson));
    if (next && its_day >= day) continue;
    next = &lesson;
    day = its_day;
  }
  if (!next) return "";
  const std::string called = next->document.folder ? "The lesson" : "Lesson " + without_zeros(next->number);
  const std::int64_t left = day - terminal.today();
  if (left <= 0) return fmt::format(" {} comes back today.", called);
  return fmt::format(" {} comes back in {}.", called, count_of(static_cast<std::size_t>(left), "day"));
}

}  // namespace

std::vector<std::string> drills_named(const Lesson& lesson) {
  constexpr std::string_view command = "attn drill ";
  std::vector<std::string> names;
  for (const MarkdownLeaf& leaf : lesson.document.leaves) {
    if (leaf.kind != MarkdownLeaf::Kind::paragraph || is_output(lesson.document, leaf.first_line)) continue;
    for (const Text& words : leaf.words) {
      for (const Span& span : words) {
        if (span.style != Span::Style::code || !span.text.starts_with(command)) continue;
        for (std::string& name : split_at_any(std::string_view(span.text).substr(command.size()), " ")) {
          if (name.starts_with("--")) break;
          names.push_back(std::move(name));
        }
      }
    }
  }
  return names;
}

void review_course(const Lesson* only, const RunCommand& run, LessonTerminal& terminal) {
  const std::vector<Lesson> lessons = only ? std::vector<Lesson>{*only} : built_in_lessons();
  bool asked = false;
  for (const Lesson& lesson : lessons) {
    if (counts_of(lesson, progress_in_lesson(terminal.progress(), lesson)).missed == 0) continue;
    asked = true;
    if (review(lesson, execute(lesson, run), terminal) == SessionEnd::left) return;
  }
  for (const Lesson& lesson : lessons) {
    const CourseProgress progress = terminal.progress();
    if (!is_finished(progress, lesson)) continue;
    if (!only && day_of_review(progress_in_lesson(progress, lesson)) > terminal.today()) continue;
    asked = true;
    if (Recall(lesson, run, terminal).ask() == SessionEnd::left) return;
  }
  const std::string begin = asked ? "End of the review." : "You have missed no question.";
  terminal.say(begin + next_review(lessons, terminal));
}

}  // namespace attn
