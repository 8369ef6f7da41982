#include "lesson/printed.hpp"

#include <fmt/format.h>
#include <functional>

#include "lesson/answer.hpp"
#include "lesson/show.hpp"
#include "render/format.hpp"
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

std::string written(const Page& page, const Style& style,
                    void (*render)(const Page& page, const Style& style, Sink& sink)) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  render(page, style, sink);
  sink.flush();
  return text;
}

// Mathematics in Markdown is LaTeX, which only a script could set: here it is text, and what follows each
// other stands together.
Page with_plain_formulas(const Page& page, const Style& style) {
  Page result{.trace = page.trace, .recipe = page.recipe};
  Page formulas;
  const auto set_formulas = [&] {
    if (formulas.blocks.empty()) return;
    std::string text = written(formulas, style, render_text);
    text.erase(text.find_last_not_of('\n') + 1);
    result.blocks.emplace_back(CodeBlock{"text", std::move(text)});
    formulas.blocks.clear();
  };
  for (const Block& block : page.blocks) {
    if (std::holds_alternative<FormulaBlock>(block) || std::holds_alternative<Derivation>(block)) {
      formulas.blocks.push_back(block);
    } else {
      set_formulas();
      result.blocks.push_back(block);
    }
  }
  set_formulas();
  return result;
}

std::string with_plain_formulas(const BlockResult& block) {
  std::string text;
  for (const CommandResult& result : block.results) {
    if (result.format == "markdown") {
      text += "\n" + written(with_plain_formulas(*result.page, result.style), result.style, render_markdown) +
              "\n";
    } else {
      const std::string fence = fence_around(result.text);
      text += fence + std::string(result.format) + "\n" + result.text + fence + "\n";
    }
  }
  return text;
}

std::string as_printed(const BlockResult& block) {
  std::string text;
  for (const std::string& line : block.lines) text += line + "\n";
  return text;
}

std::string exported(const Lesson& lesson, const LessonResult& result, const LessonProgress& progress,
                     std::string (*output_of)(const BlockResult& block)) {
  const std::vector<std::string> keys = keys_of(lesson);
  std::string text = "# " + lesson.title + "\n";
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& step = lesson.steps[i];
    for (std::size_t line = step.first_line; line <= step.last_line; ++line)
      text += std::string(without_ending(lesson.document.lines[line - 1])) + "\n";
    if (step.commands) {
      const CommandBlock& block = lesson.document.commands[*step.commands];
      if (!block.attributes.hidden) text += "```console\n" + commands_of(block) + "\n```\n\n";
      text += output_of(result.blocks[*step.commands]);
    }
    if (step.question) text += answered(result.questions[*step.question], progress, keys[i]);
  }
  return text;
}

constexpr std::string_view style_sheet = R"(
:root { color-scheme: light dark; --ground: #fff; --ink: #222; --box: #f4f4f1; --rule: #d8d8d2; --mark: #2a6f97; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #1c1d1f; --ink: #ddd; --box: #26282b; --rule: #3d4044; --mark: #7fbbdd; }
}
body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1rem; background: var(--ground); color: var(--ink);
  font: 1.05rem/1.6 Georgia, "DejaVu Serif", serif; }
h1, h2, h3 { line-height: 1.25; margin: 2em 0 0.6em; }
h1 { margin-top: 0; }
h1:not(:first-of-type) { margin-top: 1em; font-size: 1.5em; }
a { color: var(--mark); }
pre, code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; }
code { font-size: 0.85em; }
pre code { font-size: inherit; }
pre { font-size: 0.9rem; line-height: 1.2; padding: 0.8em 1em; overflow-x: auto; background: var(--box);
  border-radius: 4px; }
pre:has(> .language-console) { background: none; border: 1px solid var(--rule); }
blockquote { margin: 1.5em 0; padding: 0.1em 1em; border-left: 4px solid var(--mark); background: var(--box); }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.7em; border-bottom: 1px solid var(--rule); }
img { max-width: 100%; }
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

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
  return exported(lesson, result, progress, as_printed);
}

std::string exported_html(const Lesson& lesson, const LessonResult& result, const LessonProgress& progress) {
  const std::string markdown = exported(lesson, result, progress, with_plain_formulas);
  refuse_long_document(markdown, lesson.document.path + " with its output would be");
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      escaped(lesson.title), style_sheet, html_of(markdown));
}

}  // namespace attn
