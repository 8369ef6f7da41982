#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "command/block_runner.hpp"
#include "command/command.hpp"
#include "command/own_source.hpp"
#include "data/matrix_file.hpp"
#include "lesson/coverage.hpp"
#include "lesson/export.hpp"
#include "lesson/lesson.hpp"
#include "lesson/library.hpp"
#include "lesson/lint.hpp"
#include "lesson/progress.hpp"
#include "lesson/recite.hpp"
#include "lesson/session.hpp"
#include "lesson/show.hpp"
#include "lesson/template.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

Outcome page_of(std::vector<Block> blocks) {
  Outcome outcome;
  outcome.page.blocks = std::move(blocks);
  return outcome;
}

// The file that keeps the progress: where the XDG Base Directory Specification puts state.
std::string state_file(const Arguments& arguments) {
  if (const std::optional<std::string> given = arguments.text("state")) return *given;
  constexpr std::string_view name = "attn/lessons.json";
  const std::string state = arguments.environment->variable("XDG_STATE_HOME").value_or("");
  if (state.starts_with('/')) return (std::filesystem::path(state) / name).string();
  const std::string home = arguments.environment->variable("HOME").value_or("");
  if (home.empty()) fail("nothing says where progress is kept: give --state FILE, or set HOME");
  return (std::filesystem::path(home) / ".local/state" / name).string();
}

Lesson lesson_named(const Arguments& arguments) {
  Lesson lesson = find_lesson(arguments.words[1]);
  if (lesson.document.folder) refuse_output_onto(lesson.document.path, arguments);
  return lesson;
}

Outcome list(const Arguments&) {
  Listing listing{{"number", "lesson", "what it is about"}, {}};
  for (const Lesson& lesson : built_in_lessons()) {
    listing.rows.push_back(
        {lesson.number, lesson.name, fmt::format("{} ({} minutes)", lesson.title, lesson.minutes)});
  }
  return page_of({std::move(listing), Prose{text("Take one with ", code("attn lesson run NAME"), ".")}});
}

Outcome show(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  const WorkedLesson worked = work(lesson, block_runner());
  std::vector<Block> blocks = opening_of(lesson);
  for (const LessonStep& step : lesson.steps) {
    for (Block& block : shown(lesson, step, worked)) blocks.push_back(std::move(block));
    if (!step.question) continue;
    for (Block& block : shown(lesson.questions[*step.question])) blocks.push_back(std::move(block));
  }
  return page_of(std::move(blocks));
}

Outcome answered_from_file(const Lesson& lesson, const WorkedLesson& worked, const std::string& path) {
  Graded result = graded(lesson, worked, answers_in(read_bytes(path)));
  Outcome outcome = page_of(std::move(result.blocks));
  if (result.wrong > 0) outcome.verdict = Verdict::failed;
  return outcome;
}

// Step by step where somebody sits at a terminal; all at once anywhere else.
Outcome run(const Arguments& arguments) {
  auto lesson = std::make_shared<const Lesson>(lesson_named(arguments));
  auto worked = std::make_shared<const WorkedLesson>(work(*lesson, block_runner()));
  if (const std::optional<std::string> path = arguments.text("answers"))
    return answered_from_file(*lesson, *worked, *path);
  const Environment& environment = *arguments.environment;
  const bool at_terminal = environment.input_is_terminal && environment.output_is_terminal;
  const bool as_page = arguments.has("no-input") || arguments.has("output") || arguments.has("format");
  if (!at_terminal || as_page) return page_of(recited(*lesson, *worked));
  Outcome outcome;
  outcome.session = [lesson, worked, state = state_file(arguments)](Terminal& terminal, const Style& style) {
    take(*lesson, *worked, {terminal, style, state});
  };
  return outcome;
}

Outcome check(const Arguments& arguments) {
  Outcome outcome;
  std::string faults;
  for (auto path = arguments.words.begin() + 1; path != arguments.words.end(); ++path) {
    refuse_output_onto(*path, arguments);
    for (const std::string& fault : faults_of(read_bytes(*path), *path, block_runner()))
      faults += (faults.empty() ? "" : "\n") + fault;
  }
  if (faults.empty()) return page_of({Prose{text("Nothing is wrong.")}});
  outcome.page.say(CodeBlock{"text", std::move(faults)});
  outcome.verdict = Verdict::failed;
  return outcome;
}

Outcome begin_new(const Arguments&) {
  return page_of({CodeBlock{"markdown", std::string(lesson_template())}});
}

Outcome reset(const Arguments& arguments) {
  const std::string path = state_file(arguments);
  Progress progress = read_progress(path);
  std::size_t forgotten = progress.size();
  if (arguments.words.size() > 1) {
    forgotten = progress.erase(progress_name(lesson_named(arguments)));
  } else {
    progress.clear();
  }
  Outcome outcome = page_of(
      {Prose{text(forgotten == 0 ? "There is no progress to forget." : "The progress is forgotten.")}});
  if (forgotten > 0) outcome.files.push_back({path, bytes_of(progress)});
  return outcome;
}

std::string without_line_end(const std::string& text) {
  return std::string(without_ending(text));
}

Outcome export_lesson(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  const WorkedLesson worked = work(lesson, block_runner());
  const LessonProgress progress = read_progress(state_file(arguments))[progress_name(lesson)];
  if (arguments.words.size() == 2) {
    const std::string markdown = exported_markdown(lesson, worked, progress);
    return page_of({CodeBlock{"markdown", without_line_end(markdown)}});
  }
  const std::string& path = arguments.words[2];
  if (lesson.document.folder) refuse_own_source(lesson.document.path, path);
  if (!path.ends_with(".md") && !path.ends_with(".html"))
    fail("{}: its ending does not say what to write: give a file that ends in .md or .html", path);
  Outcome outcome = page_of({Prose{text(path, " is written.")}});
  outcome.files.push_back({path, path.ends_with(".md") ? exported_markdown(lesson, worked, progress)
                                                       : exported_html(lesson, worked, progress)});
  return outcome;
}

Outcome show_coverage(const Arguments&) {
  return page_of({coverage(built_in_lessons())});
}

struct Action {
  std::string_view name;
  std::string_view words;
  std::size_t least_words, most_words;  // after its name
  Outcome (*run)(const Arguments& arguments);
};

constexpr std::size_t any = 1000;
constexpr std::array actions = {
    Action{"list", "", 0, 0, list},
    Action{"show", "LESSON", 1, 1, show},
    Action{"run", "LESSON", 1, 1, run},
    Action{"reset", "[LESSON]", 0, 1, reset},
    Action{"export", "LESSON [FILE]", 1, 2, export_lesson},
    Action{"check", "FILE...", 1, any, check},
    Action{"new", "", 0, 0, begin_new},
    Action{"coverage", "", 0, 0, show_coverage},
};

}  // namespace

Outcome run_lesson(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return list(arguments);
  const Action& action =
      look_up(std::span<const Action>(actions), arguments.words.front(), "action of attn lesson");
  const std::size_t count = arguments.words.size() - 1;
  if (count < action.least_words || count > action.most_words)
    fail("attn lesson {} is written: attn lesson {}{}{}", action.name, action.name,
         action.words.empty() ? "" : " ", action.words);
  return action.run(arguments);
}

}  // namespace attn
