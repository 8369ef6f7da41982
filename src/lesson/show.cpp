#include "lesson/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace attn {
namespace {

// The words of the heading in this line, if there is one.
const MarkdownLeaf* heading_at(const Document& document, std::size_t line) {
  const auto is_it = [&](const MarkdownLeaf& leaf) {
    return leaf.kind == MarkdownLeaf::Kind::heading && leaf.first_line == line &&
           document.lines[line - 1].starts_with('#');
  };
  const auto found = std::ranges::find_if(document.leaves, is_it);
  return found == document.leaves.end() ? nullptr : &*found;
}

// The paragraph that begins in this line and stands in no list or quotation, if there is one.
const MarkdownLeaf* paragraph_at(const Document& document, std::size_t line) {
  const auto is_it = [&](const MarkdownLeaf& leaf) {
    return leaf.kind == MarkdownLeaf::Kind::paragraph && leaf.first_line == line && leaf.container == 0;
  };
  const auto found = std::ranges::find_if(document.leaves, is_it);
  return found == document.leaves.end() ? nullptr : &*found;
}

int level_of(std::string_view line) {
  return static_cast<int>(std::min<std::size_t>(line.find_first_not_of('#'), 6));
}

// Without the empty lines around it.
std::string without_empty_lines(const std::string& text) {
  const std::size_t begin = text.find_first_not_of('\n');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of('\n') + 1 - begin);
}

// The lines of a step as paragraphs under their headings; what is neither, such as a list, as it stands.
class Paragraphs {
 public:
  void add_line(std::string_view line) { text_ += std::string(line) + "\n"; }

  void add_heading(std::string_view line, const std::string& words) {
    end_text();
    blocks_.emplace_back(Heading{level_of(line), text(words)});
  }

  void add_paragraph(const Text& words) {
    end_text();
    blocks_.emplace_back(Prose{words});
  }

  std::vector<Block> finish() {
    end_text();
    return std::move(blocks_);
  }

 private:
  void end_text() {
    std::string lines = without_empty_lines(text_);
    if (!lines.empty()) blocks_.emplace_back(CodeBlock{"markdown", std::move(lines)});
    text_.clear();
  }

  std::string text_;
  std::vector<Block> blocks_;
};

std::string commands_of(const CommandBlock& block) {
  std::string text;
  for (const CommandLine& line : block.lines) text += (text.empty() ? "$ " : "\n$ ") + line.text;
  return text;
}

std::string answered(const Posed& posed, const LessonProgress& progress, const std::string& key) {
  std::string text;
  for (const std::string& line : question_lines(posed.question)) text += "> " + line + "  \n";
  const auto found = progress.answers.find(key);
  if (found == progress.answers.end()) return text + ">\n> *Not answered.*\n";
  return text + fmt::format(">\n> *Answered:* {}: {}.\n", found->second.text,
                            found->second.right ? "right" : "wrong; it is " + answer_of(posed));
}

void append_commands(std::string& text, const CommandBlock& block, const BlockRun& run) {
  if (!block.attributes.hidden) text += "```console\n" + commands_of(block) + "\n```\n\n";
  for (const std::string& line : run.lines) text += line + "\n";
}

}  // namespace

std::vector<Block> opening_of(const Lesson& lesson) {
  std::vector<Block> blocks;
  blocks.emplace_back(Heading{1, text(lesson.title)});
  std::string says;
  if (lesson.minutes > 0) says += fmt::format("About {} minutes.", lesson.minutes);
  if (!lesson.needs.empty())
    says += fmt::format("{}Builds on {}.", says.empty() ? "" : " ", fmt::join(lesson.needs, ", "));
  if (!says.empty()) blocks.emplace_back(Prose{text(says)});
  return blocks;
}

std::vector<Block> shown(const Lesson& lesson, const LessonStep& step, const WorkedLesson& worked) {
  Paragraphs paragraphs;
  for (std::size_t line = step.first_line; line <= step.last_line; ++line) {
    const std::string_view source = without_ending(lesson.document.lines[line - 1]);
    if (const MarkdownLeaf* heading = heading_at(lesson.document, line)) {
      paragraphs.add_heading(source, heading->text);
    } else if (const MarkdownLeaf* paragraph = paragraph_at(lesson.document, line)) {
      paragraphs.add_paragraph(paragraph->words);
      line = paragraph->last_line;
    } else {
      paragraphs.add_line(source);
    }
  }
  std::vector<Block> blocks = paragraphs.finish();
  if (!step.commands) return blocks;
  const CommandBlock& block = lesson.document.commands[*step.commands];
  if (!block.attributes.hidden) blocks.emplace_back(CodeBlock{"console", commands_of(block)});
  for (const Ran& said : worked.runs[*step.commands].said)
    blocks.emplace_back(CodeBlock{std::string(said.format), without_empty_lines(said.text)});
  return blocks;
}

std::vector<Block> shown(const Question& question) {
  std::vector<Block> blocks = {Prose{text(strong("Question: "), question.ask)}};
  std::string choices;
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    choices += fmt::format("{}  {}) {}", i == 0 ? "" : "\n", i + 1, question.choices[i]);
  if (!choices.empty()) blocks.emplace_back(CodeBlock{"text", std::move(choices)});
  return blocks;
}

std::string exported(const Lesson& lesson, const WorkedLesson& worked, const LessonProgress& progress) {
  std::string text = "# " + lesson.title + "\n";
  for (const LessonStep& step : lesson.steps) {
    for (std::size_t line = step.first_line; line <= step.last_line; ++line)
      text += std::string(without_ending(lesson.document.lines[line - 1])) + "\n";
    if (step.commands)
      append_commands(text, lesson.document.commands[*step.commands], worked.runs[*step.commands]);
    if (step.question) text += answered(worked.posed[*step.question], progress, key_of(lesson, step));
  }
  return text;
}

std::string html_page(const std::string& title, const std::string& markdown) {
  std::string escaped;
  for (const char c : title)
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return fmt::format(
      "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>body {{ max-width: 50em; margin: auto; }} table {{ border-collapse: collapse; }} "
      "td, th {{ padding: 0 0.5em; }}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped, html_of(markdown));
}

}  // namespace attn
