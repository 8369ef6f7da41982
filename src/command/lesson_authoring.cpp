// What authors of lessons do: begin one, check it, and see which lines of the checklist are covered.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/block_runner.hpp"
#include "command/course.hpp"
#include "command/lesson_actions.hpp"
#include "files/opened.hpp"
#include "lesson/course.hpp"
#include "lesson/lint.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

std::string names_of(const std::vector<const Mistake*>& mistakes) {
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
                                        count_of(question.slips, "slip"), names_of(question.recognised)),
                            question.place.path});
    if (!question.not_told_apart.empty())
      listing.rows.push_back(
          {"line " + line, "same answer", names_of(question.not_told_apart), question.place.path});
  }
  return listing;
}

}  // namespace

Outcome check_lessons(const Arguments& arguments) {
  Outcome outcome;
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
    outcome = page_of({Prose{text("Nothing is wrong.")}});
    if (!recognised.empty()) {
      outcome.page.say(
          Prose{text("Below are the wrong answers that are recognised. A mistake with the same answer as the "
                     "correct one cannot be: other numbers might tell the two apart.")});
    }
    for (Block& block : recognised) outcome.page.blocks.push_back(std::move(block));
    return outcome;
  }
  outcome.page.say(CodeBlock{"text", std::move(faults)});
  outcome.verdict = Verdict::failed;
  return outcome;
}

// A lesson that there is nothing to find fault with: its output is in it.
Outcome begin_lesson(const Arguments& arguments) {
  const bool is_written = arguments.words.size() > 1;
  const std::string path = is_written ? arguments.words[1] : "new.md";
  if (!path.ends_with(".md")) fail("{}: a lesson is Markdown: give a name that ends in .md", path);
  const Document document = read_document(lesson_template(), path);
  const std::string lesson = with_outputs(document, outputs_of(document, block_runner()));
  if (!is_written) return page_of({printed_markdown(lesson)});
  refuse_to_replace(path, arguments);
  Outcome outcome =
      page_of({Prose{text(path, " is written. Find mistakes in it with ", code("attn lesson check " + path),
                          ", and take it with ", code("attn lesson run " + path), ".")}});
  outcome.files.push_back({path, lesson});
  return outcome;
}

Outcome show_coverage(const Arguments&) {
  return page_of({coverage(built_in_lessons())});
}

}  // namespace attn
