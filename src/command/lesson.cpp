#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "command/block_runner.hpp"
#include "command/command.hpp"
#include "command/course.hpp"
#include "command/lesson_actions.hpp"
#include "files/opened.hpp"
#include "lesson/course.hpp"
#include "lesson/lesson.hpp"
#include "lesson/printed.hpp"
#include "lesson/progress.hpp"
#include "lesson/show.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

Outcome list(const Arguments& arguments) {
  const ProgressFile file = progress_so_far(arguments);
  const std::optional<std::string> go_on = lesson_to_continue(file.progress);
  const std::string with =
      go_on ? " goes on with lesson " + without_zeros(find_lesson(*go_on).number) : " shows all";
  std::vector<Block> blocks = course_listing(file.progress);
  blocks.emplace_back(
      Prose{text(code("attn lesson"), with, "; ", code("attn lesson NUMBER"), " takes one of them.")});
  return with_warning(page_of(std::move(blocks)), file, arguments);
}

Outcome show(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  return page_of(without_answers(lesson, execute(lesson, block_runner())));
}

Outcome answered_from_file(const Lesson& lesson, const LessonResult& result, const std::string& path) {
  const std::vector<MarkedHandIn> marks = marked(result.questions, hand_ins(path));
  Outcome outcome = page_of(marks.size() == 1 ? with_marks(lesson, result, marks.front())
                                              : class_marks(result.questions, marks));
  outcome.verdict = verdict_on(marks);
  return outcome;
}

std::optional<std::size_t> first_step(const Arguments& arguments, const Lesson& lesson) {
  const std::optional<std::size_t> step = arguments.count(option::step);
  if (!step) return std::nullopt;
  return whole_number(option::step.name, std::to_string(*step), 1, lesson.steps.size()) - 1;
}

// Step by step at a terminal; all at once elsewhere.
Outcome run(const Arguments& given, Lesson chosen) {
  auto lesson = std::make_shared<const Lesson>(std::move(chosen));
  if (const std::optional<std::string> path = given.text(option::answers))
    return answered_from_file(*lesson, execute(*lesson, block_runner()), *path);
  const std::optional<std::size_t> step = first_step(given, *lesson);
  if (!at_terminal(given)) return page_of(with_answers(*lesson, execute(*lesson, block_runner())));
  return interactive(given, [lesson, step](LessonTerminal& terminal) {
    take_from(*lesson, block_runner(), terminal, step);
  });
}

Lesson unfinished(const std::optional<std::string>& name) {
  if (!name)
    fail("all lessons are done: attn lesson run NAME takes one again, attn lesson reset begins anew");
  return find_lesson(*name);
}

Outcome run(const Arguments& arguments) {
  if (arguments.words.size() > 1) return run(arguments, lesson_named(arguments));
  const ProgressFile file = progress_so_far(arguments);
  return with_warning(run(arguments, unfinished(lesson_to_continue(file.progress))), file, arguments);
}

Outcome next(const Arguments& arguments) {
  const ProgressFile file = progress_so_far(arguments);
  return with_warning(run(arguments, unfinished(lesson_after_last(file.progress))), file, arguments);
}

Outcome course(const Arguments& arguments) {
  if (!at_terminal(arguments)) return list(arguments);
  return interactive(arguments, [](LessonTerminal& terminal) { take_course(block_runner(), terminal); });
}

Outcome review(const Arguments& arguments) {
  if (!at_terminal(arguments)) fail("attn lesson review asks questions: start it at a terminal");
  if (arguments.words.size() == 1)
    return interactive(arguments,
                       [](LessonTerminal& terminal) { review_course(nullptr, block_runner(), terminal); });
  auto lesson = std::make_shared<const Lesson>(lesson_named(arguments));
  return interactive(arguments, [lesson](LessonTerminal& terminal) {
    review_course(lesson.get(), block_runner(), terminal);
  });
}

// What is left of the progress when a lesson, or without a name all of them, is forgotten.
CourseProgress without(CourseProgress progress, const std::optional<std::string>& name) {
  if (!name) return {};
  progress.lessons.erase(*name);
  if (progress.last == *name) progress.last.clear();
  return progress;
}

// "3 lessons and 1 puzzle"; empty: there is nothing to forget.
std::string forgotten(const CourseProgress& before, const std::optional<std::string>& name) {
  const std::size_t lessons = name ? before.lessons.count(*name) : before.lessons.size();
  std::vector<std::string> parts;
  if (lessons > 0) parts.push_back(count_of(lessons, "lesson"));
  if (!name && !before.puzzles.empty()) parts.push_back(count_of(before.puzzles.size(), "puzzle"));
  return parts.empty() ? "" : listed(parts);
}

Outcome reset(const Arguments& arguments) {
  const std::string state = state_to_write(arguments);
  const ProgressFile file = read_progress(state);
  const CourseProgress& before = file.progress;
  std::optional<std::string> name;
  if (arguments.words.size() > 1) name = progress_name(lesson_named(arguments));
  const std::string what = forgotten(before, name);
  if (what.empty() && !file.is_damaged) return page_of({Prose{text("There is no progress to reset.")}});
  if (arguments.has(option::yes)) {
    Outcome outcome = page_of({Prose{text("The progress is reset.")}});
    const std::string bytes = read_bytes(state);
    if (file.is_damaged) {
      outcome.files.push_back({name_aside(state), bytes});
      outcome.warnings.push_back(
          fmt::format("{} was damaged. What it had is now in {}", state, name_aside(state)));
    }
    outcome.files.push_back({state, bytes_of(without(before, name)), bytes});
    return outcome;
  }
  if (file.is_damaged && !at_terminal(arguments))
    fail("{}, the file of your progress, is damaged: give --yes to begin a new one", state);
  if (!at_terminal(arguments))
    fail("attn lesson reset forgets your progress in {}: give --yes to do it", what);
  return interactive(arguments, [name, what](LessonTerminal& terminal) {
    if (what.empty()) return;  // the terminal has said what it did with the damaged file
    const std::optional<std::string> typed =
        terminal.ask(fmt::format("Forget your progress in {}? yes or no", what));
    const bool sure = typed && (*typed == "yes" || *typed == "y");
    if (sure) terminal.change([&](CourseProgress& progress) { progress = without(progress, name); });
    terminal.show({Prose{text(sure ? "The progress is reset." : "Nothing is changed.")}});
  });
}

constexpr Word lesson_word{"LESSON", Word::Count::one, Kind::path, choices::lessons};
constexpr Word optional_lesson{"LESSON", Word::Count::optional, Kind::path, choices::lessons};

const std::vector<const Option*> taking = {&option::answers, &option::step};

const std::array actions = {
    Action{"list", "list the lessons and your progress in each", {}, list},
    Action{"run", "take a lesson; without a name, go on where you are", {optional_lesson}, run, taking},
    Action{"next", "take the next lesson that you have not finished", {}, next, taking},
    Action{"review",
           "answer again the questions that you missed, in one lesson or in all",
           {optional_lesson},
           review},
    Action{"show", "print a lesson as a page, without the answers", {lesson_word}, show},
    Action{"reset", "forget your progress in one lesson or in all", {optional_lesson}, reset, {&option::yes}},
    Action{
        "export",
        "write a lesson with your answers, or as a worksheet, as Markdown or to a file that ends in .md or "
        ".html; with --format page as a page for browsers, which asks its questions itself",
        {lesson_word, {"FILE", Word::Count::optional, Kind::path}},
        export_lesson,
        {&option::answers, &option::worksheet, &option::with_answers, &option::yes}},
    Action{"new",
           "print the beginning of a lesson of your own, or write it to a file",
           {{"FILE", Word::Count::optional, Kind::path}},
           begin_lesson,
           {&option::yes}},
    Action{"check", "check lessons that you write", {{"FILE", Word::Count::some, Kind::path}}, check_lessons},
    Action{"coverage", "list which lessons cover which lines of the checklist", {}, show_coverage},
};

}  // namespace

std::vector<OptionChoice> choices::lessons() {
  std::vector<OptionChoice> names;
  for (const LessonFile& file : lesson_files()) names.push_back({file.name, ""});
  return names;
}

std::span<const Action> lesson_actions() {
  return actions;
}

// Options that change nothing there are refused, with the actions that take them.
void refuse_idle(const std::string& typed, std::span<const Option* const> taken, const Arguments& arguments) {
  for (const Action& other : actions) {
    for (const Option* option : other.options) {
      if (!arguments.has(*option) || std::ranges::find(taken, option) != taken.end()) continue;
      std::vector<std::string> takers;
      for (const Action& action : actions) {
        if (std::ranges::find(action.options, option) != action.options.end())
          takers.push_back(fmt::format("attn lesson {}", action.name));
      }
      fail("{} takes no {}: {} {} it", typed, option->name, listed(takers),
           takers.size() == 1 ? "takes" : "take");
    }
  }
}

Outcome run_lesson(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) {
    refuse_idle("attn lesson without a lesson", {}, arguments);
    return course(arguments);
  }
  if (parsed<std::size_t>(arguments.words.front()) && arguments.words.size() == 1) {
    refuse_idle("attn lesson NUMBER", taking, arguments);
    return run(arguments, find_lesson(arguments.words.front()));
  }
  const Action& action =
      look_up(std::span<const Action>(actions), arguments.words.front(), "action of attn lesson");
  const std::size_t count = arguments.words.size() - 1;
  if (asks_for_page(arguments) && action.run != export_lesson)
    fail("attn lesson {} writes no page for browsers: attn lesson export does", action.name);
  if (count < least_count(action.words) || count > most_count(action.words))
    fail("attn lesson {} is written: attn lesson {}{}{}", action.name, action.name,
         action.words.empty() ? "" : " ", written(action.words));
  refuse_idle(fmt::format("attn lesson {}", action.name), action.options, arguments);
  return action.run(arguments);
}

}  // namespace attn
