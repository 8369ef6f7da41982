#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "command/block_runner.hpp"
#include "command/command.hpp"
#include "command/variables.hpp"
#include "files/matrix_file.hpp"
#include "files/opened.hpp"
#include "lesson/course.hpp"
#include "lesson/lesson.hpp"
#include "lesson/lint.hpp"
#include "lesson/printed.hpp"
#include "lesson/progress.hpp"
#include "lesson/show.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

Outcome page_of(std::vector<Block> blocks) {
  Outcome outcome;
  outcome.page.blocks = std::move(blocks);
  return outcome;
}

// The file that keeps the progress: where the XDG Base Directory Specification puts state. Nothing: there is
// no home.
std::optional<std::string> state_file(const Arguments& arguments) {
  if (std::optional<std::string> given = arguments.text(option::state)) return given;
  constexpr std::string_view name = "attn/lessons.json";
  const std::string state = arguments.environment->variable(variable::xdg_state_home.name).value_or("");
  if (state.starts_with('/')) return (std::filesystem::path(state) / name).string();
  const std::string home = arguments.environment->variable(variable::home.name).value_or("");
  if (home.empty()) return std::nullopt;
  return (std::filesystem::path(home) / ".local/state" / name).string();
}

std::string state_to_write(const Arguments& arguments) {
  if (std::optional<std::string> state = state_file(arguments)) return *state;
  fail("there is no folder for your progress: give --state FILE, or set HOME");
}

ProgressFile progress_so_far(const Arguments& arguments) {
  const std::optional<std::string> state = state_file(arguments);
  return state ? read_progress(*state) : ProgressFile{};
}

// A session makes room for another file; a page can only say what it has found.
Outcome with_warning(Outcome outcome, const ProgressFile& file, const Arguments& arguments) {
  if (file.is_damaged && !outcome.session)
    outcome.warnings.push_back(
        fmt::format("the file of your progress, {}, is damaged, and is shown as no progress. When you take a "
                    "lesson, it gets another name",
                    state_to_write(arguments)));
  return outcome;
}

bool at_terminal(const Arguments& arguments) {
  const Environment& environment = *arguments.environment;
  const bool as_page =
      arguments.has(option::no_input) || arguments.has(option::output) || arguments.has(option::format);
  return environment.input_is_terminal && environment.output_is_terminal && !as_page;
}

Outcome interactive(const Arguments& arguments, std::function<void(LessonTerminal& terminal)> action) {
  Outcome outcome;
  outcome.session = [action = std::move(action), state = state_to_write(arguments)](Terminal& terminal,
                                                                                    const Style& style) {
    LessonTerminal lesson_terminal(terminal, style, state);
    action(lesson_terminal);
  };
  return outcome;
}

Lesson lesson_named(const Arguments& arguments) {
  return find_lesson(arguments.words[1]);
}

Outcome list(const Arguments& arguments) {
  const ProgressFile file = progress_so_far(arguments);
  const std::optional<std::string> go_on = lesson_to_continue(file.progress);
  const std::string with =
      go_on ? " goes on with lesson " + without_zeros(find_lesson(*go_on).number) : " shows all";
  Outcome outcome = page_of(
      {course_listing(file.progress),
       Prose{text(code("attn lesson"), with, "; ", code("attn lesson NUMBER"), " takes one of them.")}});
  return with_warning(std::move(outcome), file, arguments);
}

Outcome show(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  const LessonResult result = execute(lesson, block_runner());
  std::vector<Block> blocks = opening_of(lesson);
  bool answers = false;  // whether a block shows the answer to the question before it
  for (const LessonStep& step : lesson.steps) {
    std::vector<Block> shown =
        answers ? shown_without_output(lesson, step) : shown_whole(lesson, step, result);
    if (answers && step.question) shown.push_back(attn::shown(lesson.questions[*step.question]));
    std::ranges::move(shown, std::back_inserter(blocks));
    answers = step.question.has_value();
  }
  return page_of(std::move(blocks));
}

Outcome answered_from_file(const Lesson& lesson, const LessonResult& result, const std::string& path) {
  Graded grades = graded(lesson, result, answers_in(read_bytes(path)));
  Outcome outcome = page_of(std::move(grades.blocks));
  if (grades.wrong > 0) outcome.verdict = Verdict::failed;
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

Outcome check(const Arguments& arguments) {
  Outcome outcome;
  std::string faults;
  for (auto path = arguments.words.begin() + 1; path != arguments.words.end(); ++path) {
    for (const std::string& fault : faults_of(read_bytes(*path), *path, block_runner()))
      faults += (faults.empty() ? "" : "\n") + fault;
  }
  if (faults.empty()) return page_of({Prose{text("Nothing is wrong.")}});
  outcome.page.say(CodeBlock{"text", std::move(faults)});
  outcome.verdict = Verdict::failed;
  return outcome;
}

std::string without_line_end(const std::string& text) {
  return std::string(without_ending(text));
}

Outcome begin_new(const Arguments&) {
  return page_of({CodeBlock{"markdown", without_line_end(std::string(lesson_template()))}});
}

// What is left of the progress when a lesson, or without a name all of them, is forgotten.
CourseProgress without(CourseProgress progress, const std::optional<std::string>& name) {
  if (!name) return {};
  progress.lessons.erase(*name);
  if (progress.last == *name) progress.last.clear();
  return progress;
}

Outcome reset(const Arguments& arguments) {
  const std::string state = state_to_write(arguments);
  const ProgressFile file = read_progress(state);
  const CourseProgress& before = file.progress;
  std::optional<std::string> name;
  if (arguments.words.size() > 1) name = progress_name(lesson_named(arguments));
  const std::size_t count = name ? before.lessons.count(*name) : before.lessons.size();
  if (count == 0 && !file.is_damaged) return page_of({Prose{text("There is no progress to reset.")}});
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
    fail("attn lesson reset forgets your progress in {}: give --yes to do it", count_of(count, "lesson"));
  return interactive(arguments, [name, count](LessonTerminal& terminal) {
    if (count == 0) return;  // the terminal has said what it did with the damaged file
    const std::optional<std::string> typed =
        terminal.ask(fmt::format("Forget your progress in {}? yes or no", count_of(count, "lesson")));
    const bool sure = typed && (*typed == "yes" || *typed == "y");
    if (sure) terminal.change([&](CourseProgress& progress) { progress = without(progress, name); });
    terminal.show({Prose{text(sure ? "The progress is reset." : "Nothing is changed.")}});
  });
}

Outcome export_lesson(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  const LessonResult result = execute(lesson, block_runner());
  const std::optional<std::string> answers = arguments.text(option::answers);
  ProgressFile file = answers ? ProgressFile() : progress_so_far(arguments);
  const LessonProgress progress = answers ? answered(lesson, result, answers_in(read_bytes(*answers)))
                                          : std::move(file.progress.lessons[progress_name(lesson)]);
  if (arguments.words.size() == 2) {
    const std::string markdown = exported_markdown(lesson, result, progress);
    Outcome outcome = page_of({CodeBlock{"markdown", without_line_end(markdown)}});
    return with_warning(std::move(outcome), file, arguments);
  }
  const std::string& path = arguments.words[2];
  if (!path.ends_with(".md") && !path.ends_with(".html"))
    fail("{}: its ending does not say what to write: give a file that ends in .md or .html", path);
  if (is_there(path) && !arguments.has(option::yes))
    fail("{} is there already: give another file, or --yes to replace it", path);
  Outcome outcome = page_of({Prose{text(path, " is written.")}});
  outcome.files.push_back({path, path.ends_with(".md") ? exported_markdown(lesson, result, progress)
                                                       : exported_html(lesson, result, progress)});
  return with_warning(std::move(outcome), file, arguments);
}

Outcome show_coverage(const Arguments&) {
  return page_of({coverage(built_in_lessons())});
}

constexpr Word lesson_word{"LESSON", Word::Count::one, Kind::path, choices::lessons};
constexpr Word optional_lesson{"LESSON", Word::Count::optional, Kind::path, choices::lessons};

const std::array actions = {
    Action{"list", "list the lessons and your progress in each", {}, list},
    Action{"run", "take a lesson; without a name, go on where you are", {optional_lesson}, run},
    Action{"next", "take the next lesson that you have not finished", {}, next},
    Action{"review",
           "answer again the questions that you missed, in one lesson or in all",
           {optional_lesson},
           review},
    Action{"show", "print a lesson as a page, without the answers", {lesson_word}, show},
    Action{"reset", "forget your progress in one lesson or in all", {optional_lesson}, reset},
    Action{"export",
           "write a lesson with your answers as Markdown, or to a file that ends in .md or .html",
           {lesson_word, {"FILE", Word::Count::optional, Kind::path}},
           export_lesson},
    Action{"new", "print the beginning of a lesson of your own", {}, begin_new},
    Action{"check", "check lessons that you write", {{"FILE", Word::Count::some, Kind::path}}, check},
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

Outcome run_lesson(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return course(arguments);
  if (parsed<std::size_t>(arguments.words.front()) && arguments.words.size() == 1)
    return run(arguments, find_lesson(arguments.words.front()));
  const Action& action =
      look_up(std::span<const Action>(actions), arguments.words.front(), "action of attn lesson");
  const std::size_t count = arguments.words.size() - 1;
  if (count < least_count(action.words) || count > most_count(action.words))
    fail("attn lesson {} is written: attn lesson {}{}{}", action.name, action.name,
         action.words.empty() ? "" : " ", written(action.words));
  return action.run(arguments);
}

}  // namespace attn
