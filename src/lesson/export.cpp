#include "lesson/export.hpp"

#include <fmt/format.h>

#include "lesson/show.hpp"
#include "render/format.hpp"

namespace attn {
namespace {

std::string answered(const Posed& posed, const LessonProgress& progress, const std::string& key) {
  std::string text = "> **Question:** " + posed.question.ask + "\n>\n";
  for (std::size_t i = 0; i < posed.question.choices.size(); ++i)
    text += fmt::format("> {}. {}\n{}", i + 1, posed.question.choices[i],
                        i + 1 == posed.question.choices.size() ? ">\n" : "");
  const auto found = progress.answers.find(key);
  const bool is_answered = found != progress.answers.end() && !found->second.text.empty();
  if (!is_answered) return text + "> *Not answered.*\n";
  return text +
         fmt::format("> *Your answer:* {}. {}.\n", found->second.text,
                     found->second.right ? "Correct" : "Not correct; the answer is " + answer_of(posed));
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

std::string with_plain_formulas(const BlockRun& run) {
  std::string text;
  for (const Ran& said : run.said) {
    if (said.format == "markdown") {
      text += "\n" + written(with_plain_formulas(*said.page, said.style), said.style, render_markdown) + "\n";
    } else {
      const std::string fence = fence_around(said.text);
      text += fence + std::string(said.format) + "\n" + said.text + fence + "\n";
    }
  }
  return text;
}

std::string as_printed(const BlockRun& run) {
  std::string text;
  for (const std::string& line : run.lines) text += line + "\n";
  return text;
}

std::string exported(const Lesson& lesson, const WorkedLesson& worked, const LessonProgress& progress,
                     std::string (*output_of)(const BlockRun& run)) {
  const std::vector<std::string> keys = keys_of(lesson);
  std::string text = "# " + lesson.title + "\n";
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& step = lesson.steps[i];
    for (std::size_t line = step.first_line; line <= step.last_line; ++line)
      text += std::string(without_ending(lesson.document.lines[line - 1])) + "\n";
    if (step.commands) {
      const CommandBlock& block = lesson.document.commands[*step.commands];
      if (!block.attributes.hidden) text += "```console\n" + commands_of(block) + "\n```\n\n";
      text += output_of(worked.runs[*step.commands]);
    }
    if (step.question) text += answered(worked.posed[*step.question], progress, keys[i]);
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

std::string exported_markdown(const Lesson& lesson, const WorkedLesson& worked,
                              const LessonProgress& progress) {
  return exported(lesson, worked, progress, as_printed);
}

std::string exported_html(const Lesson& lesson, const WorkedLesson& worked, const LessonProgress& progress) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      escaped(lesson.title), style_sheet, html_of(exported(lesson, worked, progress, with_plain_formulas)));
}

}  // namespace attn
