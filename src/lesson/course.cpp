#include "lesson/course.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "lesson/lesson.hpp"
#include "lesson/prompt.hpp"
#include "lesson/show.hpp"
#include "support/error.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

ProgressCounts counts_in(const CourseProgress& progress, const Lesson& lesson) {
  const auto found = progress.lessons.find(progress_name(lesson));
  return counts_of(lesson, found == progress.lessons.end() ? LessonProgress{} : found->second);
}

std::string progress_text(const ProgressCounts& counts) {
  if (!counts.is_begun()) return "";
  if (!counts.is_finished()) return fmt::format("step {}/{}", counts.done + 1, counts.steps);
  return fmt::format("{}/{} correct", counts.first + counts.later, counts.questions);
}

std::string_view mark_of(const ProgressCounts& counts) {
  return counts.is_finished() ? "✓" : counts.is_begun() ? ">" : "";
}

std::string_view state_of(const ProgressCounts& counts) {
  return counts.is_finished() ? "done" : counts.is_begun() ? "begun" : "open";
}

// From this lesson of the course on, and then from its beginning: the first that is not finished.
std::optional<std::string> unfinished_from(const CourseProgress& progress, std::size_t begin) {
  const std::vector<Lesson> lessons = built_in_lessons();
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const Lesson& lesson = lessons[(begin + i) % lessons.size()];
    if (!counts_in(progress, lesson).is_finished()) return lesson.name;
  }
  return std::nullopt;
}

// Where the lesson that was taken last stands in the course; behind all of them where it is no part of it.
std::size_t place_of_last(const CourseProgress& progress) {
  const std::vector<Lesson> lessons = built_in_lessons();
  const auto found = std::ranges::find(lessons, progress.last, &Lesson::name);
  return static_cast<std::size_t>(found - lessons.begin());
}

std::optional<Lesson> lesson_after(const Lesson& lesson) {
  if (lesson.document.folder) return std::nullopt;
  std::vector<Lesson> lessons = built_in_lessons();
  const auto found = std::ranges::find(lessons, lesson.name, &Lesson::name);
  if (found == lessons.end() || found + 1 == lessons.end()) return std::nullopt;
  return std::move(*(found + 1));
}

enum class Choice { next, review, quit };

Choice what_next(const Lesson& lesson, const std::optional<Lesson>& next, LessonTerminal& terminal) {
  const std::size_t missed = counts_in(terminal.progress(), lesson).missed;
  if (next)
    terminal.show({Prose{text(strong("Next: "), fmt::format("lesson {}, ", without_zeros(next->number)),
                              next->title, fmt::format(" (about {} minutes).", next->minutes))}});
  if (!next && !lesson.document.folder) terminal.show({Prose{text("This is the end of the course.")}});
  std::string says = next ? "Enter next lesson" : "Enter quit";
  if (missed > 0) says += fmt::format(" · r review {}", count_of(missed, "question"));
  if (next) says += " · q quit";
  for (;;) {
    const std::optional<std::string> typed = terminal.ask(says);
    if (!typed) return Choice::quit;
    const std::optional<KeyPress> key = key_press(*typed);
    if (key && key->action == LessonAction::quit) return Choice::quit;
    if (typed->empty() || (key && key->action == LessonAction::next))
      return next ? Choice::next : Choice::quit;
    if (missed > 0 && (*typed == "r" || *typed == "review")) return Choice::review;
    terminal.show({Prose{
        text(fmt::format("'{}' does nothing here. The lesson is done; attn lesson run {} takes it again.",
                         *typed, lesson.document.folder ? lesson.document.path : lesson.name))}});
  }
}

// The lesson whose name is typed, or with Enter the one to continue; nothing: none.
std::optional<Lesson> chosen(const std::optional<std::string>& go_on, const std::string& says,
                             LessonTerminal& terminal) {
  for (;;) {
    const std::optional<std::string> typed = terminal.ask(says);
    const std::optional<KeyPress> key = typed ? key_press(*typed) : KeyPress{LessonAction::quit};
    const bool goes_on = typed && (typed->empty() || (key && key->action == LessonAction::next));
    if ((goes_on && !go_on) || (key && key->action == LessonAction::quit)) return std::nullopt;
    if (key && !goes_on) {
      terminal.show({Prose{
          text("Type the number or the name of a lesson. Within a lesson, ? lists what you can do.")}});
      continue;
    }
    try {
      return find_lesson(goes_on ? *go_on : *typed);
    } catch (const InputError& error) {
      terminal.show({Prose{text(error.what())}});
    }
  }
}

// The command whose block says that it shows the line, or else the lesson's first.
std::string command_for(const Lesson& lesson, std::string_view line) {
  const std::vector<CommandBlock>& blocks = lesson.document.commands;
  const auto says_so = [&](const CommandBlock& block) {
    return std::ranges::find(block.attributes.covers, line) != block.attributes.covers.end();
  };
  auto found = std::ranges::find_if(blocks, says_so);
  if (found == blocks.end()) found = blocks.begin();
  return found == blocks.end() ? "" : found->lines.front().text;
}

}  // namespace

Block course_listing(const CourseProgress& progress) {
  Listing listing{{"mark", "number", "title", "time", "progress", "lesson", "state", "minutes", "steps",
                   "steps done", "questions", "correct at the first try", "correct later", "missed"},
                  {}};
  listing.shown = 5;
  for (const Lesson& lesson : built_in_lessons()) {
    const ProgressCounts counts = counts_in(progress, lesson);
    listing.rows.push_back({std::string(mark_of(counts)), without_zeros(lesson.number), lesson.title,
                            fmt::format("{} min", lesson.minutes), progress_text(counts), lesson.name});
    std::vector<std::string>& row = listing.rows.back();
    row.emplace_back(state_of(counts));
    for (const std::size_t count : {lesson.minutes, counts.steps, counts.done, counts.questions, counts.first,
                                    counts.later, counts.missed})
      row.push_back(std::to_string(count));
  }
  return listing;
}

std::optional<std::string> lesson_to_continue(const CourseProgress& progress) {
  return unfinished_from(progress, place_of_last(progress));
}

std::optional<std::string> lesson_after_last(const CourseProgress& progress) {
  const std::size_t last = place_of_last(progress);
  return unfinished_from(progress, last == built_in_lessons().size() ? last : last + 1);
}

void take_from(const Lesson& first, const RunCommand& run, LessonTerminal& terminal,
               std::optional<std::size_t> step) {
  std::optional<Lesson> lesson = first;
  while (lesson) {
    if (take(*lesson, execute(*lesson, run), terminal, std::exchange(step, std::nullopt)) == SessionEnd::left)
      return;
    std::optional<Lesson> next = lesson_after(*lesson);
    Choice choice = what_next(*lesson, next, terminal);
    while (choice == Choice::review) {
      if (review(*lesson, execute(*lesson, run), terminal) == SessionEnd::left) return;
      choice = what_next(*lesson, next, terminal);
    }
    if (choice == Choice::quit) return;
    lesson = std::move(next);
  }
}

void take_course(const RunCommand& run, LessonTerminal& terminal) {
  terminal.show({course_listing(terminal.progress())});
  const std::optional<std::string> go_on = lesson_to_continue(terminal.progress());
  const std::string says = go_on ? fmt::format("Enter: go on with lesson {} · number: that lesson · q quit",
                                               without_zeros(find_lesson(*go_on).number))
                                 : "All lessons are done. Number: that lesson · Enter or q quit";
  if (const std::optional<Lesson> lesson = chosen(go_on, says, terminal)) take_from(*lesson, run, terminal);
}

void review_course(const Lesson* only, const RunCommand& run, LessonTerminal& terminal) {
  std::vector<Lesson> lessons;
  if (only) {
    lessons.push_back(*only);
  } else {
    lessons = built_in_lessons();
  }
  const auto has_nothing_missed = [&](const Lesson& lesson) {
    return counts_in(terminal.progress(), lesson).missed == 0;
  };
  std::erase_if(lessons, has_nothing_missed);
  if (lessons.empty()) return terminal.show({Prose{text("You have missed no question.")}});
  for (const Lesson& lesson : lessons) {
    if (review(lesson, execute(lesson, run), terminal) == SessionEnd::left) return;
  }
  terminal.show({Prose{text("End of the review.")}});
}

Listing coverage(const std::vector<Lesson>& lessons) {
  Listing listing{{"line", "lesson", "command", "what it says"}, {}};
  for (const ChecklistLine& line : checklist()) {
    bool covered = false;
    for (const Lesson& lesson : lessons) {
      if (std::ranges::find(lesson.covers, line.name) == lesson.covers.end()) continue;
      listing.rows.push_back(
          {std::string(line.name), lesson.name, command_for(lesson, line.name), std::string(line.says)});
      covered = true;
    }
    if (!covered) listing.rows.push_back({std::string(line.name), "–", "", std::string(line.says)});
  }
  return listing;
}

}  // namespace attn
