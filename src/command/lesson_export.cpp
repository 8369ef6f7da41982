// attn lesson export.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/block_runner.hpp"
#include "command/course.hpp"
#include "command/lesson_actions.hpp"
#include "lesson/lesson_page.hpp"
#include "lesson/printed.hpp"
#include "lesson/progress.hpp"
#include "render/width.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 1> formats_of_lessons = {"page"};

// What is to stand after the questions of an exported lesson.
Exported to_export(const Arguments& arguments, const Lesson& lesson, const LessonResult& result,
                   const LessonProgress& progress) {
  if (arguments.has(option::worksheet)) return {lesson, result, AnswersShown::none};
  if (arguments.has(option::with_answers)) return {lesson, result, AnswersShown::folded};
  const std::optional<std::string> answers = arguments.text(option::answers);
  if (!answers) return {lesson, result, AnswersShown::given, answers_of(lesson, result, progress)};
  const std::vector<HandIn> all = hand_ins(*answers);
  if (all.size() > 1)
    fail("{} holds {}: give one of them, or mark all of them with attn lesson run", *answers,
         count_of(all.size(), "file"));
  return {lesson, result, AnswersShown::given, marked(result.questions, all.front()).answers};
}

std::string page_for_browser(const Lesson& lesson) {
  std::string page;
  Sink sink([&](std::string_view bytes) { page += bytes; });
  write_lesson_page(lesson, block_runner(), sink);
  sink.flush();
  return printable_lines(page);
}

Outcome export_page(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  for (const Option* left_out : {&option::answers, &option::worksheet, &option::with_answers}) {
    if (arguments.has(*left_out))
      fail("a page for browsers asks its questions itself: leave out {}", left_out->name);
  }
  if (arguments.words.size() == 2) {
    if (arguments.environment->output_is_terminal && !arguments.has(option::output))
      fail(
          "a page for browsers is not for a terminal: give a file that ends in .html, or send the output on");
    Outcome outcome;
    outcome.document = [page = page_for_browser(lesson)](const Style&, Sink& sink) { sink.write(page); };
    return outcome;
  }
  const std::string& path = arguments.words[2];
  if (!path.ends_with(".html") && !path.ends_with(".htm"))
    fail("{}: a page for browsers is HTML: give a name that ends in .html", path);
  refuse_to_replace(path, arguments);
  Outcome outcome = page_of({Prose{text(path, " is written. Open it in a browser.")}});
  outcome.files.push_back({path, page_for_browser(lesson)});
  return outcome;
}

}  // namespace

bool asks_for_page(const Arguments& arguments) {
  return arguments.text(option::format) == formats_of_lessons.front();
}

std::span<const std::string_view> lesson_formats() {
  return formats_of_lessons;
}

Lesson lesson_named(const Arguments& arguments) {
  return find_lesson(arguments.words[1]);
}

void refuse_to_replace(const std::string& path, const Arguments& arguments) {
  if (is_there(path) && !arguments.has(option::yes))
    fail("{} is there already: give another file, or --yes to replace it", path);
}

Block printed_markdown(const std::string& markdown) {
  return CodeBlock{"markdown", std::string(without_ending(markdown))};
}

Outcome export_lesson(const Arguments& arguments) {
  if (asks_for_page(arguments)) return export_page(arguments);
  const Lesson lesson = lesson_named(arguments);
  const LessonResult result = execute(lesson, block_runner());
  const bool shows_progress =
      !arguments.has_any(std::array{&option::answers, &option::worksheet, &option::with_answers});
  ProgressFile file = shows_progress ? progress_so_far(arguments) : ProgressFile();
  const Exported exported =
      to_export(arguments, lesson, result, file.progress.lessons[progress_name(lesson)]);
  // What was handed in fails where it is wrong; what is kept of one's own is only shown.
  const bool fails =
      arguments.has(option::answers) &&
      std::ranges::any_of(exported.given, [](const auto& answer) { return !answer || answer->is_wrong(); });
  if (arguments.words.size() == 2) {
    const std::string markdown = exported_markdown(exported);
    Outcome outcome = page_of({printed_markdown(markdown)});
    outcome.verdict = fails ? Verdict::failed : Verdict::passed;
    return with_warning(std::move(outcome), file, arguments);
  }
  const std::string& path = arguments.words[2];
  if (!path.ends_with(".md") && !path.ends_with(".html"))
    fail("{}: its ending does not say what to write: give a file that ends in .md or .html", path);
  refuse_to_replace(path, arguments);
  Outcome outcome = page_of({Prose{text(path, " is written.")}});
  outcome.verdict = fails ? Verdict::failed : Verdict::passed;
  outcome.files.push_back(
      {path, path.ends_with(".md") ? exported_markdown(exported) : exported_html(exported)});
  return with_warning(std::move(outcome), file, arguments);
}

}  // namespace attn
