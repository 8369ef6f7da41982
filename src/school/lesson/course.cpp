#include "school/lesson/course.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"

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

struct RoadHeading {
  Road road;
  std::string_view name;
  std::string_view says;
};

constexpr std::array road_headings = {
    RoadHeading{Road::main, "Main road", "one lesson after the other"},
    RoadHeading{Road::side, "Side roads", "each after the lessons that it builds on"},
};

std::string_view mark_of(const ProgressCounts& counts) {
  return counts.is_finished() ? "✓" : counts.is_begun() ? ">" : "";
}

std::string_view state_in_words(const ProgressCounts& counts) {
  return counts.is_finished() ? "done" : counts.is_begun() ? "begun" : "open";
}

bool is_unfinished(const CourseProgress& progress, const Lesson& lesson) {
  return !counts_in(progress, lesson).is_finished();
}

// The first of a road from this place of the course on, and then from its beginning, that is not finished.
std::optional<Lesson> unfinished_on(Road road, const CourseProgress& progress, std::size_t begin) {
  std::vector<Lesson> lessons = built_in_lessons();
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    Lesson& lesson = lessons[(begin + i) % lessons.size()];
    if (lesson.road == road && is_unfinished(progress, lesson)) return std::move(lesson);
  }
  return std::nullopt;
}

// Where a lesson stands in the course; behind all of them where it is no part of it.
std::size_t course_place_of(std::string_view name) {
  const std::span<const LessonFile> files = lesson_files();
  return static_cast<std::size_t>(std::ranges::find(files, name, &LessonFile::name) - files.begin());
}

// The main road comes first, also for a reader who was on a side road.
std::optional<Lesson> unfinished_after(const CourseProgress& progress, std::string_view name) {
  const std::size_t place = course_place_of(name);
  const std::size_t begin = place == lesson_files().size() ? 0 : place + 1;
  if (std::optional<Lesson> lesson = unfinished_on(Road::main, progress, begin)) return lesson;
  return unfinished_on(Road::side, progress, begin);
}

std::string title_in_course(const Lesson& lesson) {
  return fmt::format("lesson {}, {} (about {})", without_zeros(lesson.number), lesson.title,
                     count_of(lesson.minutes, "minute"));
}

// The side roads that begin at a lesson: it is the last that they need, and they are not finished.
std::vector<Lesson> side_roads_from(const Lesson& lesson, const CourseProgress& progress) {
  std::vector<Lesson> lessons = built_in_lessons();
  const auto is_open = [&](const std::string& name) { return is_unfinished(progress, find_lesson(name)); };
  const auto begins_elsewhere = [&](const Lesson& other) {
    return other.road != Road::side || !is_unfinished(progress, other) ||
           std::ranges::find(other.needs, lesson.name) == other.needs.end() ||
           std::ranges::any_of(other.needs, is_open);
  };
  std::erase_if(lessons, begins_elsewhere);
  return lessons;
}

// The lesson that was typed by its number or its name; nothing: there is none, and the reader is told.
std::optional<Lesson> lesson_typed(const std::string& typed, LessonTerminal& terminal) {
  try {
    return find_lesson(typed);
  } catch (const InputError& error) {
    terminal.show({Prose{text(error.what())}});
    return std::nullopt;
  }
}

void show_ways_on(const Lesson& lesson, const std::optional<Lesson>& next, LessonTerminal& terminal) {
  const CourseProgress progress = terminal.progress();
  std::vector<Block> blocks;
  if (lesson.road == Road::main && !unfinished_on(Road::main, progress, 0))
    blocks.emplace_back(Prose{text("This is the end of the main road: all its lessons are done.")});
  if (next) blocks.emplace_back(Prose{text(strong("Next: "), title_in_course(*next), ".")});
  if (!next) blocks.emplace_back(Prose{text("This is the end of the course.")});
  ParagraphsWithMargins roads;
  for (const Lesson& road : side_roads_from(lesson, progress)) {
    if (road.name != next->name) roads.lines.push_back({"- ", "  ", text(title_in_course(road))});
  }
  if (!roads.lines.empty()) {
    blocks.emplace_back(Prose{text("Side roads from here:")});
    blocks.emplace_back(std::move(roads));
  }
  terminal.show(std::move(blocks));
}

// What follows a lesson: another one, its questions again, or nothing.
struct Choice {
  bool reviews = false;
  std::optional<Lesson> lesson = {};
};

Choice what_next(const Lesson& lesson, LessonTerminal& terminal) {
  const std::size_t missed = counts_in(terminal.progress(), lesson).missed;
  std::optional<Lesson> next;
  if (!lesson.document.folder) {
    next = unfinished_after(terminal.progress(), lesson.name);
    show_ways_on(lesson, next, terminal);
  }
  std::string says = next ? "Enter next lesson · number: that lesson" : "Enter quit";
  if (missed > 0) says += fmt::format(" · r review {}", count_of(missed, "question"));
  if (next) says += " · q quit";
  for (;;) {
    const std::optional<std::string> typed = terminal.ask(says);
    const std::optional<KeyPress> key = typed ? key_press(*typed) : KeyPress{LessonAction::quit};
    if (key && key->action == LessonAction::quit) return {};
    if (typed->empty() || (key && key->action == LessonAction::next)) return {.lesson = std::move(next)};
    if (missed > 0 && (*typed == "r" || *typed == "review")) return {.reviews = true};
    if (key) {
      terminal.show(
          {Prose{text(fmt::format("'{}' does nothing here. The lesson is done; attn lesson run {} takes it again.",
                                  *typed, lesson.document.folder ? lesson.document.path : lesson.name))}});
    } else if (std::optional<Lesson> other = lesson_typed(*typed, terminal)) {
      return {.lesson = std::move(other)};
    }
  }
}

// The lesson whose name is typed, or with Enter the one to continue; nothing: none.
std::optional<Lesson> chosen_lesson(const std::optional<std::string>& go_on, const std::string& says,
                                    LessonTerminal& terminal) {
  for (;;) {
    const std::optional<std::string> typed = terminal.ask(says);
    const std::optional<KeyPress> key = typed ? key_press(*typed) : KeyPress{LessonAction::quit};
    const bool goes_on = typed && (typed->empty() || (key && key->action == LessonAction::next));
    if ((goes_on && !go_on) || (key && key->action == LessonAction::quit)) return std::nullopt;
    if (key && !goes_on) {
      terminal.show(
          {Prose{text("Type the number or the name of a lesson. Within a lesson, ? lists what you can do.")}});
    } else if (std::optional<Lesson> lesson = lesson_typed(goes_on ? *go_on : *typed, terminal)) {
      return lesson;
    }
  }
}

// The command whose block says that it shows the line, or else the lesson's first.
std::vector<std::string> commands_for(const Lesson& lesson, std::string_view line) {
  std::vector<std::string> commands;
  for (const CommandBlock& block : lesson.document.commands) {
    if (std::ranges::find(block.attributes.covers, line) == block.attributes.covers.end()) continue;
    for (const CommandLine& command : block.lines) commands.push_back(command.text);
  }
  if (commands.empty() && !lesson.document.commands.empty())
    commands.push_back(lesson.document.commands.front().lines.front().text);
  return commands;
}

// "4, 9": lessons of the course by their numbers.
std::string numbers_of_lessons(const std::vector<std::string>& names) {
  std::vector<std::string> numbers;
  for (const std::string& name : names) numbers.push_back(without_zeros(find_lesson(name).number));
  return fmt::format("{}", fmt::join(numbers, ", "));
}

}  // namespace

std::vector<Block> course_listing(const CourseProgress& progress, std::int64_t today) {
  std::vector<Block> blocks;
  std::vector<std::string> due;
  for (const RoadHeading& heading : road_headings) {
    Listing listing{{"mark", "number", "title", "time", "progress", "builds on", "lesson", "road", "state", "minutes",
                     "steps", "steps done", "questions", "correct at the first try", "correct later", "missed"},
                    {}};
    listing.shown = 6;
    std::size_t minutes = 0;
    for (const Lesson& lesson : built_in_lessons()) {
      if (lesson.road != heading.road) continue;
      minutes += lesson.minutes;
      const ProgressCounts counts = counts_in(progress, lesson);
      if (counts.is_finished() && day_of_review(progress.lessons.at(progress_name(lesson))) <= today)
        due.push_back(without_zeros(lesson.number));
      listing.rows.push_back({std::string(mark_of(counts)), without_zeros(lesson.number), lesson.title,
                              fmt::format("{} min", lesson.minutes), progress_text(counts),
                              heading.road == Road::main ? "" : "after " + numbers_of_lessons(lesson.needs),
                              lesson.name, std::string(name_of(lesson.road)), std::string(state_in_words(counts))});
      std::vector<std::string>& row = listing.rows.back();
      for (const std::size_t count :
           {lesson.minutes, counts.steps, counts.done, counts.questions, counts.first, counts.later, counts.missed})
        row.push_back(std::to_string(count));
    }
    if (listing.rows.empty()) continue;
    blocks.emplace_back(Prose{
        text(strong(std::string(heading.name)), fmt::format(": {}, {}", count_of(minutes, "minute"), heading.says))});
    blocks.emplace_back(std::move(listing));
  }
  if (!due.empty()) {
    blocks.emplace_back(
        Prose{text(fmt::format("To be reviewed: {:lesson|lessons} {}. ", Count{due.size()}, fmt::join(due, ", ")),
                   code("attn lesson review"), " asks one question of each.")});
  }
  return blocks;
}

std::optional<std::string> lesson_to_continue(const CourseProgress& progress) {
  const std::size_t last = course_place_of(progress.last);
  if (last < lesson_files().size() && is_unfinished(progress, find_lesson(progress.last))) return progress.last;
  return lesson_after_last(progress);
}

std::optional<std::string> lesson_after_last(const CourseProgress& progress) {
  std::optional<Lesson> lesson = unfinished_after(progress, progress.last);
  if (!lesson) return std::nullopt;
  return std::move(lesson->name);
}

void take_from(const Lesson& first, const RunCommand& run, LessonTerminal& terminal, std::optional<std::size_t> step) {
  std::optional<Lesson> lesson = first;
  while (lesson) {
    if (run_session(*lesson, execute(*lesson, run), terminal, std::exchange(step, std::nullopt)) == SessionEnd::left)
      return;
    Choice choice = what_next(*lesson, terminal);
    while (choice.reviews) {
      if (review(*lesson, execute(*lesson, run), terminal) == SessionEnd::left) return;
      choice = what_next(*lesson, terminal);
    }
    lesson = std::move(choice.lesson);
  }
}

void take_course(const RunCommand& run, LessonTerminal& terminal) {
  terminal.show(course_listing(terminal.progress(), terminal.today()));
  const std::optional<std::string> go_on = lesson_to_continue(terminal.progress());
  const std::string says = go_on ? fmt::format("Enter: go on with lesson {} · number: that lesson · q quit",
                                               without_zeros(find_lesson(*go_on).number))
                                 : "All lessons are done. Number: that lesson · Enter or q quit";
  if (const std::optional<Lesson> lesson = chosen_lesson(go_on, says, terminal)) take_from(*lesson, run, terminal);
}

Listing coverage(const std::vector<Lesson>& lessons) {
  Listing listing{{"line", "lesson", "command", "what it says"}, {}};
  for (const ChecklistLine& line : checklist()) {
    bool covered = false;
    for (const Lesson& lesson : lessons) {
      if (std::ranges::find(lesson.covers, line.name) == lesson.covers.end()) continue;
      for (const std::string& command : commands_for(lesson, line.name))
        listing.rows.push_back({std::string(line.name), lesson.name, command, std::string(line.says)});
      covered = true;
    }
    if (!covered) listing.rows.push_back({std::string(line.name), "–", "", std::string(line.says)});
  }
  return listing;
}

}  // namespace attn
