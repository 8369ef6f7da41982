#include "lesson/printed.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "lesson/answer.hpp"
#include "lesson/show.hpp"
#include "render/format.hpp"
#include "render/html.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

void append(std::vector<Block>& blocks, std::vector<Block> more) {
  for (Block& block : more) blocks.push_back(std::move(block));
}

// What is said after the question with this number.
using Reply = std::function<Block(std::size_t question)>;

std::vector<Block> with_replies(const Lesson& lesson, const LessonResult& result, const Reply& reply) {
  std::vector<Block> blocks = opening_of(lesson);
  for (const LessonStep& step : lesson.steps) {
    append(blocks, shown(lesson, step, result));
    if (!step.question) continue;
    blocks.push_back(shown(lesson.questions[*step.question]));
    blocks.push_back(reply(*step.question));
  }
  return blocks;
}

void refuse_other_count(const LessonResult& result, const std::vector<std::string>& answers) {
  if (answers.size() == result.questions.size()) return;
  fail("{} to {}: give one in each line, as many as there are questions", count_of(answers.size(), "answer"),
       count_of(result.questions.size(), "question"));
}

std::string answered(const SolvedQuestion& solved, const LessonProgress& progress, const std::string& key) {
  std::string text = "> **Question:** " + solved.question.ask + "\n>\n";
  for (std::size_t i = 0; i < solved.question.choices.size(); ++i)
    text += fmt::format("> {}. {}\n{}", i + 1, solved.question.choices[i],
                        i + 1 == solved.question.choices.size() ? ">\n" : "");
  const auto found = progress.answers.find(key);
  const bool is_answered = found != progress.answers.end() && !found->second.text.empty();
  if (!is_answered) return text + "> *Not answered.*\n";
  return text +
         fmt::format("> *Your answer:* {}. {}.\n", found->second.text,
                     found->second.right ? "Correct" : "Not correct; the answer is " + answer_of(solved));
}

// What the commands of a block print, as elements of HTML. What only programs read is text.
std::string as_html(const BlockResult& block, std::size_t number) {
  std::string html;
  Sink sink([&](std::string_view bytes) { html += bytes; });
  for (std::size_t i = 0; i < block.results.size(); ++i) {
    const CommandResult& result = block.results[i];
    const auto writer = html_writer(result.style, sink, fmt::format("drawing-{}-{}", number, i + 1));
    if (look_up(formats(), result.format, "format").audience == Audience::readers) {
      writer->write(result.page->blocks);
    } else {
      writer->write(CodeBlock{std::string(result.format), result.text});
    }
  }
  sink.flush();
  return html;
}

std::string as_printed(const BlockResult& block) {
  std::string text;
  for (const std::string& line : block.printed.lines) text += line + "\n";
  return text;
}

// A lesson in order: Markdown, and behind it what a block has printed.
struct ExportedPiece {
  std::string markdown;
  const BlockResult* output = nullptr;  // null: of no block
};

std::vector<ExportedPiece> exported(const Lesson& lesson, const LessonResult& result,
                                    const LessonProgress& progress) {
  const std::vector<std::string> keys = keys_of(lesson);
  std::vector<ExportedPiece> pieces = {{"# " + lesson.title + "\n"}};
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& step = lesson.steps[i];
    std::string text;
    for (std::size_t line = step.first_line; line <= step.last_line; ++line)
      text += std::string(without_ending(lesson.document.lines[line - 1])) + "\n";
    if (step.commands) {
      const CommandBlock& block = lesson.document.commands[*step.commands];
      if (!block.attributes.hidden) text += "```console\n" + commands_of(block) + "\n```\n\n";
      pieces.push_back({std::exchange(text, ""), &result.blocks[*step.commands]});
    }
    if (step.question) text += answered(result.questions[*step.question], progress, keys[i]);
    pieces.push_back({std::move(text)});
  }
  return pieces;
}

// What the author and the reader have written, without the sign that stands for what commands print.
std::string without_placeholders(std::string text) {
  constexpr std::string_view replacement = "\uFFFD";
  for (std::size_t at; (at = text.find(placeholder)) != std::string::npos;)
    text.replace(at, placeholder.size(), replacement);
  return text;
}

constexpr std::string_view rules_of_lessons = R"(
blockquote { margin: 1.5em 0; padding: 0.1em 1em; border-left: 4px solid var(--link); background: var(--box); }
img { max-width: 100%; }
)";
// Pictures may stand beside a lesson.
constexpr std::string_view policy_of_lessons =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data: file: https:";

}  // namespace

std::vector<Block> with_answers(const Lesson& lesson, const LessonResult& result) {
  return with_replies(lesson, result, [&](std::size_t i) {
    return Note{Note::Kind::answer, {text(strong("Answer: "), answer_of(result.questions[i]))}};
  });
}

Graded graded(const Lesson& lesson, const LessonResult& result, const std::vector<std::string>& answers) {
  refuse_other_count(result, answers);
  Graded grades;
  Listing listing{{"question", "given", "answer", "correct"}, {}};
  listing.shown = 0;  // the verdicts stand below the questions
  grades.blocks = with_replies(lesson, result, [&](std::size_t i) {
    const SolvedQuestion& solved = result.questions[i];
    const Judgment judged = judge(solved, answers[i]);
    const bool correct = judged.mark == Judgment::Mark::right;
    listing.rows.push_back({solved.question.ask, answers[i], answer_of(solved), correct ? "yes" : "no"});
    if (correct) return Note{Note::Kind::correct, {text(strong("Correct: "), answers[i], ".")}};
    ++grades.wrong;
    return Note{Note::Kind::wrong,
                {text(strong("Not correct: "), answers[i], ". The answer is ", answer_of(solved), ".",
                      judged.says.empty() ? "" : " ", judged.says)}};
  });
  grades.blocks.emplace_back(Prose{text(
      fmt::format("Correct: {} of {}.", answers.size() - grades.wrong, count_of(answers.size(), "answer")))});
  grades.blocks.emplace_back(std::move(listing));
  return grades;
}

LessonProgress answered(const Lesson& lesson, const LessonResult& result,
                        const std::vector<std::string>& answers) {
  refuse_other_count(result, answers);
  LessonProgress progress;
  const std::vector<std::string> keys = keys_of(lesson);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::optional<std::size_t> question = lesson.steps[i].question;
    if (!question) continue;
    const bool right = judge(result.questions[*question], answers[*question]).mark == Judgment::Mark::right;
    progress.answers[keys[i]] = {answers[*question], right, right, !right};
  }
  return progress;
}

std::vector<std::string> answers_in(std::string_view text) {
  std::vector<std::string> answers;
  for (const std::string& line : parted(text, "\r\n")) {
    const std::string_view answer = trimmed(line);
    if (!answer.empty() && !answer.starts_with('#')) answers.emplace_back(answer);
  }
  return answers;
}

std::string exported_markdown(const Lesson& lesson, const LessonResult& result,
                              const LessonProgress& progress) {
  std::string text;
  for (const ExportedPiece& piece : exported(lesson, result, progress))
    text += piece.markdown + (piece.output ? as_printed(*piece.output) : "");
  return text;
}

std::string exported_html(const Lesson& lesson, const LessonResult& result, const LessonProgress& progress) {
  std::string markdown;
  std::vector<std::string> outputs;
  for (const ExportedPiece& piece : exported(lesson, result, progress)) {
    markdown += without_placeholders(piece.markdown);
    if (!piece.output) continue;
    markdown += fmt::format("\n{}\n\n", placeholder);
    outputs.push_back(as_html(*piece.output, outputs.size() + 1));
  }
  refuse_long_document(markdown, lesson.document.path + " with its output would be");
  return html_begin({.title = lesson.title, .policy = policy_of_lessons, .more_rules = rules_of_lessons}) +
         html_of(markdown, outputs) + std::string(html_end);
}

}  // namespace attn
