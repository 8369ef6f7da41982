#include "school/lesson/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/render/format.hpp"
#include "page/render/width.hpp"
#include "school/lesson/lesson.hpp"
#include "school/puzzle/trial.hpp"

namespace attn {
namespace {

// Without the empty lines around it.
std::string without_empty_lines(const std::string& text) {
  const std::size_t begin = text.find_first_not_of('\n');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of('\n') + 1 - begin);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string beginning_alike(const std::string& one, const std::string& other) {
  return {one.begin(), std::ranges::mismatch(one, other).in1};
}

// The text of a step as blocks of a page.
class Blocks {
 public:
  void add(const MarkdownLeaf& leaf) {
    switch (leaf.kind) {
      case MarkdownLeaf::Kind::heading:
        return add_block(Heading{leaf.level, leaf.words.front()});
      case MarkdownLeaf::Kind::paragraph:
        return add_paragraph(leaf);
      case MarkdownLeaf::Kind::fence:
      case MarkdownLeaf::Kind::code:
        return add_code(leaf);
      case MarkdownLeaf::Kind::table:
        return add_block(Listing{leaf.rows.front(), {leaf.rows.begin() + 1, leaf.rows.end()}, true});
      case MarkdownLeaf::Kind::rule:   // the end of a step, or in a list
      case MarkdownLeaf::Kind::html:   // no terminal shows it, and most of it is comments
      case MarkdownLeaf::Kind::other:  // such as the definition of a footnote
        return;
    }
  }

  std::vector<Block> finish() { return std::move(blocks_); }

 private:
  void add_block(Block block) {
    blocks_.push_back(std::move(block));
    open_ = {};
  }

  void add_paragraph(const MarkdownLeaf& leaf) {
    const bool is_plain = leaf.margins.outermost == 0 && leaf.words.size() == 1;
    if (is_plain) return add_block(Prose{leaf.words.front()});
    std::vector<ParagraphsWithMargins::Line> lines;
    for (const Text& words : leaf.words)
      lines.push_back({lines.empty() ? leaf.margins.first : leaf.margins.rest, leaf.margins.rest, words});
    add_lines(leaf.margins, std::move(lines));
  }

  // Code is indented, as Markdown has it, and never broken.
  void add_code(const MarkdownLeaf& leaf) {
    std::vector<ParagraphsWithMargins::Line> lines;
    for (const std::string& line : lines_of(leaf.text)) {
      const std::string& margin = lines.empty() ? leaf.margins.first : leaf.margins.rest;
      lines.push_back({margin + "    " + line, leaf.margins.rest, {}});
    }
    add_lines(leaf.margins, std::move(lines));
  }

  // What stands in one list or quotation stays together.
  void add_lines(const MarkdownMargins& margins, std::vector<ParagraphsWithMargins::Line> lines) {
    const bool goes_on = open_.outermost != 0 && open_.outermost == margins.outermost;
    if (!goes_on) blocks_.emplace_back(ParagraphsWithMargins{});
    std::vector<ParagraphsWithMargins::Line>& all = std::get<ParagraphsWithMargins>(blocks_.back()).lines;
    if (goes_on && !margins.tight) all.push_back({beginning_alike(open_.rest, margins.rest), "", {}});
    for (ParagraphsWithMargins::Line& line : lines) all.push_back(std::move(line));
    open_ = margins;
  }

  std::vector<Block> blocks_;
  MarkdownMargins open_;  // of the lines that were added last, if they can go on
};

std::vector<const MarkdownLeaf*> leaves_of_step(const Lesson& lesson, const LessonStep& step) {
  const std::vector<MarkdownLeaf>& all = lesson.document.leaves;  // in the order of their lines
  std::vector<const MarkdownLeaf*> leaves;
  auto leaf = std::ranges::lower_bound(all, step.first_line, {}, &MarkdownLeaf::first_line);
  for (; leaf != all.end() && leaf->first_line <= step.last_line; ++leaf) leaves.push_back(&*leaf);
  return leaves;
}

// Lessons of the course have numbers: "lesson 3".
std::vector<std::string> numbered_title(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const LessonFile* const file = find_row(lesson_files(), name);
    const std::string number = file ? find_lesson(name).number : "";
    result.push_back(number.empty() ? name : "lesson " + without_zeros(number));
  }
  return result;
}

}  // namespace

Block output_of(const CommandResult& command) {
  if (command.format != "text") return CodeBlock{std::string(command.format), without_empty_lines(command.text)};
  return CommandOutput{command.page,          command.style.precision, command.style.full,
                       command.style.unicode, command.width,           command.style.is_precise};
}

Block abilities_of(const Lesson& lesson) {
  ParagraphsWithMargins list;
  for (const std::string& ability : lesson.can) list.lines.push_back({"- ", "  ", text(ability)});
  return list;
}

std::vector<Block> opening_of(const Lesson& lesson) {
  std::vector<Block> blocks;
  blocks.emplace_back(Heading{1, text(lesson.title)});
  std::string says = fmt::format("About {}.", count_of(lesson.minutes, "minute"));
  if (!lesson.needs.empty()) says += fmt::format(" Builds on {}.", fmt::join(numbered_title(lesson.needs), ", "));
  blocks.emplace_back(Prose{text(says)});
  if (lesson.can.empty()) return blocks;
  blocks.emplace_back(Prose{text("After this lesson you can:")});
  blocks.push_back(abilities_of(lesson));
  return blocks;
}

std::vector<Block> closing_of(const Lesson& lesson, const ProgressCounts& counts) {
  const std::string name = lesson.document.folder ? "" : " " + without_zeros(lesson.number);
  std::vector<Block> blocks = {Prose{text(strong(fmt::format("End of lesson{}. ", name)), counts_in_words(counts))}};
  if (!lesson.can.empty()) {
    blocks.emplace_back(Prose{text("You can now:")});
    blocks.push_back(abilities_of(lesson));
  }
  if (!lesson.try_it.empty()) {
    blocks.emplace_back(Prose{text("Try it on a sentence of your own:")});
    blocks.emplace_back(CodeBlock{"console", "$ " + lesson.try_it});
  }
  return blocks;
}

std::string counts_in_words(const ProgressCounts& counts) {
  std::string says =
      fmt::format("{}: {} correct at the first try", count_of(counts.questions, "question"), counts.first);
  if (counts.later > 0) says += fmt::format(", {} later", counts.later);
  const std::size_t open = counts.questions - counts.first - counts.later;
  if (open > 0) says += fmt::format(", {} not yet", open);
  return says + ".";
}

std::string without_zeros(std::string_view number) {
  return std::string(number.substr(std::min(number.find_first_not_of('0'), number.size())));
}

bool begins_section(const Lesson& lesson, const LessonStep& step) {
  const auto is_heading = [](const MarkdownLeaf* leaf) { return leaf->kind == MarkdownLeaf::Kind::heading; };
  return std::ranges::any_of(leaves_of_step(lesson, step), is_heading);
}

std::vector<Block> shown_without_output(const Lesson& lesson, const LessonStep& step) {
  Blocks text;
  for (const MarkdownLeaf* leaf : leaves_of_step(lesson, step)) text.add(*leaf);
  std::vector<Block> blocks = text.finish();
  if (step.puzzle) std::ranges::move(opening_of(lesson.puzzles[*step.puzzle]), std::back_inserter(blocks));
  if (!step.commands) return blocks;
  const CommandBlock& block = lesson.document.commands[*step.commands];
  if (!block.attributes.hidden) blocks.emplace_back(CodeBlock{"console", commands_of(block)});
  return blocks;
}

std::vector<Block> shown(const Lesson& lesson, const LessonStep& step, const LessonResult& result) {
  std::vector<Block> blocks = shown_without_output(lesson, step);
  if (!step.commands) return blocks;
  for (const CommandResult& command : result.blocks[*step.commands].results) blocks.push_back(output_of(command));
  return blocks;
}

std::vector<Block> shown_whole(const Lesson& lesson, const LessonStep& step, const LessonResult& result) {
  std::vector<Block> blocks = shown(lesson, step, result);
  if (step.question) blocks.push_back(shown(lesson.questions[*step.question]));
  return blocks;
}

std::size_t height_of(const Lesson& lesson, const LessonStep& step, const LessonResult& result) {
  Page page;
  page.blocks = shown_whole(lesson, step, result);
  std::size_t lines = 0;
  Sink sink([&](std::string_view bytes) { lines += static_cast<std::size_t>(std::ranges::count(bytes, '\n')); });
  render_text(page, {.width = 80}, sink);
  sink.flush();
  return lines;
}

std::string commands_of(const CommandBlock& block) {
  std::string text;
  for (const CommandLine& command : block.lines) {
    for (const std::string& line : command.lines)
      text += (text.empty() ? "" : "\n") + std::string(&line == &command.lines.front() ? "$ " : "  ") + line;
  }
  return text;
}

std::string gist_of(const Lesson& lesson, const LessonStep& step) {
  std::string gist;
  if (step.question) {
    gist = lesson.questions[*step.question].ask;
  } else if (step.puzzle) {
    gist = lesson.puzzles[*step.puzzle].ask;
  } else if (step.commands) {
    gist = lesson.document.commands[*step.commands].lines.front().text;
  } else {
    const auto leaves = leaves_of_step(lesson, step);
    const auto said = std::ranges::find_if(leaves, [](const MarkdownLeaf* leaf) { return !leaf->words.empty(); });
    if (said != leaves.end()) gist = words_of((*said)->words.front());
  }
  constexpr std::size_t most = 66;
  return shortened(gist, most, "…");
}

Block shown(const Question& question) {
  Note note{Note::Kind::question, {text(strong(question.predicts ? "Predict: " : "Question: "), question.ask)}};
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    note.lines.push_back(text(fmt::format("{}) {}", i + 1, question.choices[i])));
  return note;
}

}  // namespace attn
