#include "lesson/course.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lesson/keys.hpp"
#include "lesson/show.hpp"
#include "support/error.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

Standing standing_in(const CourseProgress& progress, const Lesson& lesson) {
  const auto found = progress.lessons.find(progress_name(lesson));
  return standing_of(lesson, found == progress.lessons.end() ? LessonProgress{} : found->second);
}

std::string far(const Standing& standing) {
  if (!standing.is_begun()) return "";
  if (!standing.is_finished()) return fmt::format("step {}/{}", standing.done + 1, standing.steps);
  return fmt::format("{}/{} correct", standing.first + standing.later, standing.questions);
}

std::string_view mark_of(const Standing& standing) {
  return standing.is_finished() ? "✓" : standing.is_begun() ? ">" : "";
}

std::string_view state_of(const Standing& standing) {
  return standing.is_finished() ? "done" : standing.is_begun() ? "begun" : "open";
}

// From this lesson of the course on, and then from its beginning: the first that is not finished.
std::optional<std::string> unfinished_from(const CourseProgress& progress, std::size_t begin) {
  const std::vector<Lesson> lessons = built_in_lessons();
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const Lesson& lesson = lessons[(begin + i) % lessons.size()];
    if (!standing_in(progress, lesson).is_finished()) return lesson.name;
  }
  return std::nullopt;
}

// Where the lesson that was taken last stands in the course; behind all of them where it is no part of it.
std::size_t place_of_last(const CourseProgress& progress) {
  const std::vector<Lesson> lessons = built_in_lessons();
  const auto found = std::ranges::find(lessons, progress.last, &Lesson::name);
  return static_cast<std::size_t>(found - lessons.begin());
}

std::optional<Lesson> behind(const Lesson& lesson) {
  if (lesson.document.folder) return std::nullopt;
  std::vector<Lesson> lessons = built_in_lessons();
  const auto found = std::ranges::find(lessons, lesson.name, &Lesson::name);
  if (found == lessons.end() || found + 1 == lessons.end()) return std::nullopt;
  return std::move(*(found + 1));
}

enum class Choice { next, review, quit };

Choice what_next(const Lesson& lesson, const std::optional<Lesson>& next, Desk& desk) {
  const std::size_t missed = standing_in(desk.progress(), lesson).missed;
  if (next)
    desk.show({Prose{text(strong("Next: "), fmt::format("lesson {}, ", without_zeros(next->number)),
                          next->title, fmt::format(" (about {} minutes).", next->minutes))}});
  if (!next && !lesson.document.folder) desk.show({Prose{text("This is the end of the course.")}});
  std::string says = next ? "Enter next lesson" : "Enter quit";
  if (missed > 0) says += fmt::format(" · r review {}", count_of(missed, "question"));
  if (next) says += " · q quit";
  for (;;) {
    const std::optional<std::string> typed = desk.ask(says);
    if (!typed) return Choice::quit;
    const std::optional<Pressed> key = pressed(*typed);
    if (key && key->deed == Deed::quit) return Choice::quit;
    if (typed->empty() || (key && key->deed == Deed::next)) return next ? Choice::next : Choice::quit;
    if (missed > 0 && (*typed == "r" || *typed == "review")) return Choice::review;
    desk.show({Prose{
        text(fmt::format("'{}' does nothing here. The lesson is done; attn lesson run {} takes it again.",
                         *typed, lesson.document.folder ? lesson.document.path : lesson.name))}});
  }
}

// The lesson that somebody types, or with Enter the one to go on with; nothing: none.
std::optional<Lesson> chosen(const std::optional<std::string>& go_on, const std::string& says, Desk& desk) {
  for (;;) {
    const std::optional<std::string> typed = desk.ask(says);
    const std::optional<Pressed> key = typed ? pressed(*typed) : Pressed{Deed::quit};
    const bool goes_on = typed && (typed->empty() || (key && key->deed == Deed::next));
    if ((goes_on && !go_on) || (key && key->deed == Deed::quit)) return std::nullopt;
    if (key && !goes_on) {
      desk.show({Prose{
          text("Type the number or the name of a lesson. Within a lesson, ? lists what you can do.")}});
      continue;
    }
    try {
      return find_lesson(goes_on ? *go_on : *typed);
    } catch (const InputError& error) {
      desk.show({Prose{text(error.what())}});
    }
  }
}

}  // namespace

Block course_listing(const CourseProgress& progress) {
  Listing listing{{"mark", "number", "title", "time", "progress", "lesson", "state", "minutes", "steps",
                   "steps done", "questions", "correct at the first try", "correct later", "missed"},
                  {}};
  listing.shown = 5;
  for (const Lesson& lesson : built_in_lessons()) {
    const Standing standing = standing_in(progress, lesson);
    listing.rows.push_back({std::string(mark_of(standing)), without_zeros(lesson.number), lesson.title,
                            fmt::format("{} min", lesson.minutes), far(standing), lesson.name});
    std::vector<std::string>& row = listing.rows.back();
    row.emplace_back(state_of(standing));
    for (const std::size_t count : {lesson.minutes, standing.steps, standing.done, standing.questions,
                                    standing.first, standing.later, standing.missed})
      row.push_back(std::to_string(count));
  }
  return listing;
}

std::optional<std::string> lesson_to_go_on_with(const CourseProgress& progress) {
  return unfinished_from(progress, place_of_last(progress));
}

std::optional<std::string> lesson_after_last(const CourseProgress& progress) {
  const std::size_t last = place_of_last(progress);
  return unfinished_from(progress, last == built_in_lessons().size() ? last : last + 1);
}

void take_from(const Lesson& first, const RunProgram& run, Desk& desk, std::optional<std::size_t> step) {
  std::optional<Lesson> lesson = first;
  while (lesson) {
    if (take(*lesson, work(*lesson, run), desk, std::exchange(step, std::nullopt)) == Ended::left) return;
    std::optional<Lesson> next = behind(*lesson);
    Choice choice = what_next(*lesson, next, desk);
    while (choice == Choice::review) {
      if (review(*lesson, work(*lesson, run), desk) == Ended::left) return;
      choice = what_next(*lesson, next, desk);
    }
    if (choice == Choice::quit) return;
    lesson = std::move(next);
  }
}

void take_course(const RunProgram& run, Desk& desk) {
  desk.show({course_listing(desk.progress())});
  const std::optional<std::string> go_on = lesson_to_go_on_with(desk.progress());
  const std::string says = go_on ? fmt::format("Enter: go on with lesson {} · number: that lesson · q quit",
                                               without_zeros(find_lesson(*go_on).number))
                                 : "All lessons are done. Number: that lesson · Enter or q quit";
  if (const std::optional<Lesson> lesson = chosen(go_on, says, desk)) take_from(*lesson, run, desk);
}

void review_course(const Lesson* only, const RunProgram& run, Desk& desk) {
  std::vector<Lesson> lessons;
  if (only) {
    lessons.push_back(*only);
  } else {
    lessons = built_in_lessons();
  }
  const auto has_nothing_missed = [&](const Lesson& lesson) {
    return standing_in(desk.progress(), lesson).missed == 0;
  };
  std::erase_if(lessons, has_nothing_missed);
  if (lessons.empty()) return desk.show({Prose{text("You have missed no question.")}});
  for (const Lesson& lesson : lessons) {
    if (review(lesson, work(lesson, run), desk) == Ended::left) return;
  }
  desk.show({Prose{text("End of the review.")}});
}

}  // namespace attn
