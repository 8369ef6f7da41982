#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "command/class.hpp"
#include "command/command.hpp"
#include "command/course_commands.hpp"
#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "page/render/width.hpp"
#include "school/drill/review.hpp"
#include "school/lesson/course.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/lesson_page.hpp"
#include "school/lesson/lint.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/show.hpp"
#include "school/lesson/whole_lesson.hpp"

namespace attn {

namespace {

// --- what its actions share

// The lesson that the first word behind the action names.
Lesson lesson_named(const Arguments& arguments) { return find_lesson(arguments.words[1]); }

// --- lesson export
// attn lesson export.

constexpr std::array<std::string_view, 1> formats_of_lessons = {"page"};

// What is to stand after the questions of an exported lesson.
LessonExport to_export(const Arguments& arguments, const Lesson& lesson, const LessonResult& result,
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

Answer export_page(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  for (const Option* left_out : {&option::answers, &option::worksheet, &option::with_answers}) {
    if (arguments.has(*left_out)) fail("a page for browsers asks its questions itself: leave out {}", left_out->name);
  }
  if (arguments.words.size() == 2) {
    if (arguments.environment->output_is_terminal && !arguments.has(option::output))
      fail("a page for browsers is not for a terminal: give a file that ends in .html, or send the output on");
    Answer answer;
    answer.document = [page = page_for_browser(lesson)](const Style&, Sink& sink) { sink.write(page); };
    return answer;
  }
  const std::string& path = arguments.words[2];
  if (!path.ends_with(".html") && !path.ends_with(".htm"))
    fail("{}: a page for browsers is HTML: give a name that ends in .html", path);
  refuse_to_replace(path, arguments);
  Answer answer = page_of({Prose{text(path, " is written. Open it in a browser.")}});
  answer.files.push_back({path, page_for_browser(lesson)});
  return answer;
}

// Whether --format asks for a page for browsers, which only `export` writes.
bool asks_for_page(const Arguments& arguments) { return arguments.text(option::format) == formats_of_lessons.front(); }

// A lesson as Markdown or HTML, or as a page for browsers. Throws InputError.
Answer export_lesson(const Arguments& arguments) {
  if (asks_for_page(arguments)) return export_page(arguments);
  const Lesson lesson = lesson_named(arguments);
  const LessonResult result = execute(lesson, block_runner());
  const bool shows_progress =
      !arguments.has_any(std::array{&option::answers, &option::worksheet, &option::with_answers});
  ProgressFile file = shows_progress ? progress_so_far(arguments) : ProgressFile();
  const LessonExport exported = to_export(arguments, lesson, result, file.progress.lessons[progress_name(lesson)]);
  // What was handed in fails where it is wrong; what is kept of one's own is only shown.
  const bool fails = arguments.has(option::answers) && std::ranges::any_of(exported.given, [](const auto& answer) {
                       return !answer || answer->is_wrong();
                     });
  if (arguments.words.size() == 2) {
    const std::string markdown = exported_markdown(exported);
    Answer answer = page_of({printed_markdown(markdown)});
    answer.verdict = fails ? Verdict::failed : Verdict::passed;
    return with_warning(std::move(answer), file, arguments);
  }
  const std::string& path = arguments.words[2];
  if (!path.ends_with(".md") && !path.ends_with(".html"))
    fail("{}: its ending does not say what to write: give a file that ends in .md or .html", path);
  refuse_to_replace(path, arguments);
  Answer answer = page_of({Prose{text(path, " is written.")}});
  answer.verdict = fails ? Verdict::failed : Verdict::passed;
  answer.files.push_back({path, path.ends_with(".md") ? exported_markdown(exported) : exported_html(exported)});
  return with_warning(std::move(answer), file, arguments);
}

// --- lesson authoring
// What authors of lessons do: begin one, check it, and see which lines of the checklist are covered.

std::string listed_mistakes(const std::vector<const Mistake*>& mistakes) {
  std::vector<std::string_view> names;
  for (const Mistake* mistake : mistakes) names.push_back(mistake->name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// What would be recognised among the answers to each question, so that authors choose their numbers.
Listing recognised_listing(const std::vector<CheckedQuestion>& questions) {
  Listing listing{{"line", "what", "answers", "lesson"}, {}};
  listing.shown = 3;  // a heading names the lesson
  for (const CheckedQuestion& question : questions) {
    const std::string line = std::to_string(question.place.line);
    listing.rows.push_back({"line " + line, "recognised",
                            fmt::format("{}, {}, and the mistakes: {}", count_of(question.notes, "note"),
                                        count_of(question.slips, "slip"), listed_mistakes(question.recognised)),
                            question.place.path});
    if (!question.not_told_apart.empty())
      listing.rows.push_back(
          {"line " + line, "same answer", listed_mistakes(question.not_told_apart), question.place.path});
  }
  return listing;
}

Answer check_lessons(const Arguments& arguments) {
  Answer answer;
  std::string faults;
  std::vector<Block> recognised;
  for (auto path = arguments.words.begin() + 1; path != arguments.words.end(); ++path) {
    const CheckedLesson checked = check_lesson(read_bytes(*path), *path, block_runner());
    for (const std::string& fault : checked.faults) faults += (faults.empty() ? "" : "\n") + fault;
    if (checked.questions.empty()) continue;
    recognised.emplace_back(Heading{2, text(*path)});
    recognised.emplace_back(recognised_listing(checked.questions));
  }
  if (faults.empty()) {
    answer = page_of({Prose{text("Nothing is wrong.")}});
    if (!recognised.empty()) {
      answer.page.say(Prose{text(
          "Below are the wrong answers that are recognised. "
          "A mistake with the same answer as the correct one cannot be: other numbers might tell the two apart.")});
    }
    for (Block& block : recognised) answer.page.blocks.push_back(std::move(block));
    return answer;
  }
  answer.page.say(CodeBlock{"text", std::move(faults)});
  answer.verdict = Verdict::failed;
  return answer;
}

// A lesson that there is nothing to find fault with: its output is in it.
Answer begin_lesson(const Arguments& arguments) {
  const auto lesson = [](const std::string& path) {
    const Document document = read_document(lesson_template(), path);
    return with_outputs(document, outputs_of(document, block_runner()));
  };
  return begin_document("a lesson", lesson, {"attn lesson check", "attn lesson run"}, arguments);
}

Answer show_coverage(const Arguments&) { return page_of({coverage(built_in_lessons())}); }

// --- one lesson, and the table of actions

Answer list_lessons(const Arguments& arguments) {
  const ProgressFile file = progress_so_far(arguments);
  const std::optional<std::string> go_on = lesson_to_continue(file.progress);
  const std::string with = go_on ? " goes on with lesson " + without_zeros(find_lesson(*go_on).number) : " shows all";
  std::vector<Block> blocks = course_listing(file.progress, this_day());
  blocks.emplace_back(Prose{text(code("attn lesson"), with, "; ", code("attn lesson NUMBER"), " takes one of them.")});
  return with_warning(page_of(std::move(blocks)), file, arguments);
}

Answer show_lesson(const Arguments& arguments) {
  const Lesson lesson = lesson_named(arguments);
  return page_of(without_answers(lesson, execute(lesson, block_runner())));
}

Answer answered_from_file(const Lesson& lesson, const LessonResult& result, const std::string& path) {
  const std::vector<MarkedHandIn> marks = marked(result.questions, hand_ins(path));
  Answer answer =
      page_of(marks.size() == 1 ? with_marks(lesson, result, marks.front()) : class_marks(result.questions, marks));
  answer.verdict = verdict_on(marks);
  return answer;
}

std::optional<std::size_t> first_step(const Arguments& arguments, const Lesson& lesson) {
  const std::optional<std::size_t> step = arguments.count(option::step);
  if (!step) return std::nullopt;
  return whole_number(option::step.name, std::to_string(*step), 1, lesson.steps.size()) - 1;
}

// Step by step at a terminal; all at once elsewhere.
Answer run(const Arguments& given, Lesson chosen) {
  auto lesson = std::make_shared<const Lesson>(std::move(chosen));
  if (const std::optional<std::string> path = given.text(option::answers))
    return answered_from_file(*lesson, execute(*lesson, block_runner()), *path);
  const std::optional<std::size_t> step = first_step(given, *lesson);
  if (!at_terminal(given)) return page_of(with_answers(*lesson, execute(*lesson, block_runner())));
  return interactive(given,
                     [lesson, step](LessonTerminal& terminal) { take_from(*lesson, block_runner(), terminal, step); });
}

Lesson unfinished(const std::optional<std::string>& name) {
  if (!name) fail("all lessons are done: attn lesson run NAME takes one again, attn lesson reset begins anew");
  return find_lesson(*name);
}

Answer run(const Arguments& arguments) {
  if (arguments.words.size() > 1) return run(arguments, lesson_named(arguments));
  const ProgressFile file = progress_so_far(arguments);
  return with_warning(run(arguments, unfinished(lesson_to_continue(file.progress))), file, arguments);
}

Answer next(const Arguments& arguments) {
  const ProgressFile file = progress_so_far(arguments);
  return with_warning(run(arguments, unfinished(lesson_after_last(file.progress))), file, arguments);
}

Answer course(const Arguments& arguments) {
  if (!at_terminal(arguments)) return list_lessons(arguments);
  return interactive(arguments, [](LessonTerminal& terminal) { take_course(block_runner(), terminal); });
}

Answer review_lessons(const Arguments& arguments) {
  if (!at_terminal(arguments)) fail("attn lesson review asks questions: start it at a terminal");
  if (arguments.words.size() == 1)
    return interactive(arguments, [](LessonTerminal& terminal) { review_course(nullptr, block_runner(), terminal); });
  auto lesson = std::make_shared<const Lesson>(lesson_named(arguments));
  return interactive(arguments,
                     [lesson](LessonTerminal& terminal) { review_course(lesson.get(), block_runner(), terminal); });
}

// What is left of the progress when a lesson, or without a name all of them, is forgotten.
CourseProgress progress_without(CourseProgress progress, const std::optional<std::string>& name) {
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
  return parts.empty() ? "" : list_in_words(parts);
}

Answer reset(const Arguments& arguments) {
  const std::string state = state_to_write(arguments);
  const ProgressFile file = read_progress(state);
  const CourseProgress& before = file.progress;
  std::optional<std::string> name;
  if (arguments.words.size() > 1) name = progress_name(lesson_named(arguments));
  const std::string what = forgotten(before, name);
  if (what.empty() && !file.is_damaged) return page_of({Prose{text("There is no progress to reset.")}});
  if (arguments.has(option::yes)) {
    Answer answer = page_of({Prose{text("The progress is reset.")}});
    const std::string bytes = read_bytes(state);
    if (file.is_damaged) {
      answer.files.push_back({name_aside(state), bytes});
      answer.warnings.push_back(fmt::format("{} was damaged. What it had is now in {}", state, name_aside(state)));
    }
    answer.files.push_back({state, bytes_of(progress_without(before, name)), bytes});
    return answer;
  }
  if (file.is_damaged && !at_terminal(arguments))
    fail("{}, the file of your progress, is damaged: give --yes to begin a new one", state);
  if (!at_terminal(arguments)) fail("attn lesson reset forgets your progress in {}: give --yes to do it", what);
  return interactive(arguments, [name, what](LessonTerminal& terminal) {
    if (what.empty()) return;  // the terminal has said what it did with the damaged file
    const std::optional<std::string> typed = terminal.ask(fmt::format("Forget your progress in {}? yes or no", what));
    const bool sure = typed && (*typed == "yes" || *typed == "y");
    if (sure) terminal.change([&](CourseProgress& progress) { progress = progress_without(progress, name); });
    terminal.show({Prose{text(sure ? "The progress is reset." : "Nothing is changed.")}});
  });
}

constexpr PositionalArgument lesson_word{"LESSON", PositionalArgument::Count::one, Kind::path, choices::lessons};
constexpr PositionalArgument optional_lesson{"LESSON", PositionalArgument::Count::optional, Kind::path,
                                             choices::lessons};

const std::vector<const Option*> taking = {&option::answers, &option::step};

const std::array action_table_of_lesson = {
    Action{"list", "list the lessons and your progress in each", {}, list_lessons},
    Action{"run", "take a lesson; without a name, go on where you are", {optional_lesson}, run, taking},
    Action{"next", "take the next lesson that you have not finished", {}, next, taking},
    Action{"review",
           "answer again what you missed, and after days one question of each finished lesson with other numbers",
           {optional_lesson},
           review_lessons},
    Action{"show", "print a lesson as a page, without the answers", {lesson_word}, show_lesson},
    Action{"reset", "forget your progress in one lesson or in all", {optional_lesson}, reset, {&option::yes}},
    Action{
        "export",
        "write a lesson with your answers, or as a worksheet, as Markdown or to a file that ends in .md or .html; with --format page as a page for browsers, which asks its questions itself",
        {lesson_word, {"FILE", PositionalArgument::Count::optional, Kind::path}},
        export_lesson,
        {&option::answers, &option::worksheet, &option::with_answers, &option::yes}},
    Action{"class",
           "mark the hand-ins in a folder, count the mistakes, and draw a sheet on the three that most have made",
           {{"FOLDER", PositionalArgument::Count::one, Kind::path}, optional_lesson},
           mark_class,
           {&option::seed}},
    Action{"new",
           "print the beginning of a lesson of your own, or write it to a file",
           {{"FILE", PositionalArgument::Count::optional, Kind::path}},
           begin_lesson,
           {&option::yes}},
    Action{"check",
           "check lessons that you write",
           {{"FILE", PositionalArgument::Count::some, Kind::path}},
           check_lessons},
    Action{"coverage", "list which lessons cover which lines of the checklist", {}, show_coverage},
};

}  // namespace

std::vector<OptionChoice> choices::lessons() {
  std::vector<OptionChoice> names;
  for (const LessonFile& file : lesson_files()) names.push_back({file.name, ""});
  return names;
}

std::span<const Action> lesson_actions() { return action_table_of_lesson; }

Answer run_lesson(const Command& command, const Arguments& arguments) {
  if (arguments.words.empty()) {
    refuse_idle(command, "attn lesson without a lesson", {}, arguments);
    return course(arguments);
  }
  if (parse_number<std::size_t>(arguments.words.front()) && arguments.words.size() == 1) {
    refuse_idle(command, "attn lesson NUMBER", taking, arguments);
    return run(arguments, find_lesson(arguments.words.front()));
  }
  const Action& action = look_up(command.actions, arguments.words.front(), "action of attn lesson");
  if (asks_for_page(arguments) && action.run != export_lesson)
    fail("attn lesson {} writes no page for browsers: attn lesson export does", action.name);
  return run_action(command, action, arguments);
}

std::span<const std::string_view> lesson_formats() { return formats_of_lessons; }

}  // namespace attn
