#include "school/lesson/whole_lesson.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/render/format.hpp"
#include "page/render/html.hpp"
#include "school/lesson/hand_in.hpp"
#include "school/lesson/marking.hpp"
#include "school/lesson/show.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/question.hpp"

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

// A question as a quotation, with the number by which hand-ins call it, and with its choices.
std::string quoted(const Question& question, std::size_t number) {
  std::string text =
      fmt::format("> **{} {}:** {}\n>\n", question.predicts ? "Predict" : "Question", number, question.ask);
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    text += fmt::format("> {}. {}\n{}", i + 1, question.choices[i], i + 1 == question.choices.size() ? ">\n" : "");
  return text;
}

// An answer and what is said to it, as the line of Markdown that an export has.
std::string given_answer(const SolvedQuestion& solved, const std::optional<MarkedAnswer>& answer) {
  if (!answer) return "> *Not answered.*\n";
  const std::string correct = rounded_answer(solved);
  std::string says;
  switch (answer->judgment.mark) {
    case Judgment::Mark::right:
      says = "Correct.";
      break;
    case Judgment::Mark::wrong:
      says = fmt::format("Not correct; the answer is {}.", correct);
      break;
    case Judgment::Mark::guess:
      says = fmt::format("What comes out is {}.", correct);
      break;
    case Judgment::Mark::convention:
      says = "Another convention.";
      break;
    case Judgment::Mark::unreadable:
      says = fmt::format("It could not be read; the answer is {}.", correct);
      break;
  }
  if (!answer->judgment.says.empty()) says += " " + answer->judgment.says;
  return fmt::format("> *Your answer:* {}. {}\n", answer->given, says);
}

// A command line as it can be typed.
std::string typed_command(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_of(" '\"\\;|&<>()[]{}*?$`~#!\t") == std::string::npos;
    line += (line.empty() ? "" : " ") + (is_plain ? word : fmt::format("'{}'", word));
  }
  return line;
}

// A puzzle as a quotation: its task, the computations that it is about, and what is set.
std::string quoted(const Puzzle& puzzle) {
  const std::string title = puzzle.title.empty() ? "" : " " + puzzle.title + ".";
  std::string text = fmt::format("> **Puzzle:**{} {}\n>\n> It is about:\n>\n", title, puzzle.ask);
  for (const auto& command : puzzle.commands) text += fmt::format("> - `attn {}`\n", typed_command(command.words));
  text += ">\n> You set, in place of what is there first:\n>\n";
  for (const Unknown& unknown : puzzle.unknowns)
    text += fmt::format("> - `{} = {}` ({})\n", unknown.name(), matrix_as_typed(unknown.start),
                        to_string(unknown.start.shape()));
  return text;
}

// A line to write on for each of the numbers that are set.
std::string lines_to_write_on(const Puzzle& puzzle) {
  std::string text = ">\n> *Your numbers:*\n>\n";
  for (const Unknown& unknown : puzzle.unknowns)
    text += fmt::format("> - `{} =` ____________________\n", unknown.name());
  return text;
}

std::string solution_of_puzzle(const Puzzle& puzzle) {
  std::string text = "One of the solutions:\n\n";
  for (const std::string& line : puzzle.solution) text += fmt::format("- `{}`\n", line);
  return text;
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

// A part of an exported lesson: Markdown, what a block has printed, or something to unfold.
struct Piece {
  std::string markdown;
  const BlockResult* output = nullptr;  // null: of no block
  std::string folded_under = {};        // the title under which it is to be unfolded; empty: it stands open
};

// Of each step whether its block is the first behind a question in the same section: it shows the answer.
std::vector<bool> steps_with_answers(const Lesson& lesson) {
  std::vector<bool> with_answers;
  bool is_asked = false;
  for (const LessonStep& step : lesson.steps) {
    if (begins_section(lesson, step)) is_asked = false;
    with_answers.push_back(step.commands && std::exchange(is_asked, false));
    if (step.question) is_asked = true;
  }
  return with_answers;
}

// The line of the heading in a step's text; 0: there is none.
std::size_t heading_line(const Lesson& lesson, const LessonStep& step) {
  for (const MarkdownLeaf& leaf : lesson.document.leaves) {
    const bool is_within = leaf.first_line >= step.first_line && leaf.first_line <= step.last_line;
    if (is_within && leaf.kind == MarkdownLeaf::Kind::heading) return leaf.first_line;
  }
  return 0;
}

// Whether a question or a puzzle follows the block of a step before another block, in the same section.
bool leads_to_question(const Lesson& lesson, std::size_t block) {
  for (std::size_t i = block + 1; i < lesson.steps.size() && !lesson.steps[i].commands; ++i) {
    if (heading_line(lesson, lesson.steps[i]) != 0) return false;
    if (lesson.steps[i].question || lesson.steps[i].puzzle) return true;
  }
  return false;
}

// What a worksheet has of a step.
struct OnWorksheet {
  std::size_t first_line = 0;  // of the text; behind the last one: none
  bool has_output = true;
};

// What follows a question up to the next section may tell its answer, unless it leads to another question or
// puzzle.
std::vector<OnWorksheet> steps_on_worksheet(const Lesson& lesson) {
  const std::vector<bool> with_answers = steps_with_answers(lesson);
  std::vector<OnWorksheet> steps;
  bool is_asked = false;
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& step = lesson.steps[i];
    const std::size_t heading = heading_line(lesson, step);
    const bool leads_on =
        step.question || step.puzzle || (step.commands && !with_answers[i] && leads_to_question(lesson, i));
    const bool may_tell = is_asked && heading == 0 && !leads_on;
    steps.push_back({may_tell ? step.last_line + 1 : is_asked && heading != 0 ? heading : step.first_line, !may_tell});
    if (heading != 0) is_asked = false;
    if (step.question) is_asked = true;
  }
  return steps;
}

std::string markdown_from(std::size_t line, const Lesson& lesson, const LessonStep& step) {
  std::string text;
  for (; line <= step.last_line; ++line) text += std::string(without_ending(lesson.document.lines[line - 1])) + "\n";
  if (!step.commands) return text;
  const CommandBlock& block = lesson.document.commands[*step.commands];
  if (!block.attributes.hidden) text += "```console\n" + commands_of(block) + "\n```\n\n";
  return text;
}

// How a command line names a lesson.
std::string lesson_word(const Lesson& lesson) {
  return lesson.number.empty() ? lesson.document.path : without_zeros(lesson.number);
}

// The parts of a lesson in order.
std::vector<Piece> pieces_of_lesson(const LessonExport& exported) {
  const Lesson& lesson = exported.lesson;
  std::vector<Piece> pieces = {{"# " + lesson.title + "\n"}};
  if (exported.shows == AnswersShown::none)
    pieces.push_back({fmt::format("\n{}\n", words_of(head_of_sheet("attn lesson " + lesson_word(lesson))))});
  const std::vector<bool> with_answers = steps_with_answers(lesson);
  const std::vector<OnWorksheet> on_worksheet = steps_on_worksheet(lesson);
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& step = lesson.steps[i];
    const bool is_worksheet = exported.shows == AnswersShown::none;
    const OnWorksheet& part = on_worksheet[i];
    std::string text = markdown_from(is_worksheet ? part.first_line : step.first_line, lesson, step);
    if (step.commands) {
      if (!part.has_output && is_worksheet) text = "\n" + text;
      pieces.push_back({std::exchange(text, "")});
      const bool is_folded = exported.shows == AnswersShown::folded && with_answers[i];
      if (part.has_output || !is_worksheet)
        pieces.push_back({"", &exported.result.blocks[*step.commands], is_folded ? "Output" : ""});
    }
    if (step.question) {
      const SolvedQuestion& solved = exported.result.questions[*step.question];
      text += quoted(solved.question, *step.question + 1);
      if (exported.shows == AnswersShown::given)
        text += given_answer(solved, exported.given.empty() ? std::nullopt : exported.given[*step.question]);
      if (exported.shows == AnswersShown::none) text += fmt::format("> {}\n", words_of(line_for_answer()));
      if (exported.shows == AnswersShown::folded) {
        pieces.push_back({std::exchange(text, "") + "\n"});
        pieces.push_back({rounded_answer(solved) + "\n", nullptr, "Answer"});
      }
    }
    if (step.puzzle) {
      const Puzzle& puzzle = lesson.puzzles[*step.puzzle];
      text += quoted(puzzle);
      if (exported.shows == AnswersShown::none) text += lines_to_write_on(puzzle);
      if (exported.shows == AnswersShown::folded && !puzzle.solution.empty()) {
        pieces.push_back({std::exchange(text, "") + "\n"});
        pieces.push_back({solution_of_puzzle(puzzle), nullptr, "Answer"});
      }
    }
    pieces.push_back({std::move(text)});
  }
  return pieces;
}

constexpr std::string_view rules_of_lessons = R"(
blockquote { margin: 1.5em 0; padding: 0.1em 1em; border-left: 4px solid var(--link); background: var(--box); }
img { max-width: 100%; }
)";

}  // namespace

std::string markdown_of(const Lesson& lesson, const LessonStep& step) {
  return markdown_from(step.first_line, lesson, step);
}

std::vector<Block> with_answers(const Lesson& lesson, const LessonResult& result) {
  return with_replies(lesson, result, [&](std::size_t i) {
    return Note{Note::Kind::answer, {text(strong("Answer: "), rounded_answer(result.questions[i]))}};
  });
}

std::vector<Block> with_marks(const Lesson& lesson, const LessonResult& result, const MarkedHandIn& hand_in) {
  std::vector<Block> blocks =
      with_replies(lesson, result, [&](std::size_t i) { return note_on(result.questions[i], hand_in.answers[i]); });
  append(blocks, summary_of(result.questions, hand_in));
  return blocks;
}

std::vector<Block> without_answers(const Lesson& lesson, const LessonResult& result) {
  std::vector<Block> blocks = opening_of(lesson);
  const std::vector<bool> with_answers = steps_with_answers(lesson);
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& step = lesson.steps[i];
    append(blocks, with_answers[i] ? shown_without_output(lesson, step) : shown_whole(lesson, step, result));
  }
  return blocks;
}

GivenAnswers answers_of(const Lesson& lesson, const LessonResult& result, const LessonProgress& progress) {
  GivenAnswers given(result.questions.size());
  const std::vector<std::string> keys = keys_of(lesson);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::optional<std::size_t> question = lesson.steps[i].question;
    const auto found = progress.answers.find(keys[i]);
    if (!question || found == progress.answers.end() || found->second.text.empty()) continue;
    given[*question] = marked(result.questions[*question], found->second.text);
  }
  return given;
}

std::string exported_markdown(const LessonExport& exported) {
  std::string text;
  for (const Piece& piece : pieces_of_lesson(exported)) {
    const std::string body = piece.markdown + (piece.output ? as_printed(*piece.output) : "");
    text += piece.folded_under.empty()
                ? body
                : fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n", piece.folded_under, body);
  }
  return text;
}

std::string exported_html(const LessonExport& exported) {
  std::string markdown;
  std::vector<std::string> outputs;
  for (const Piece& piece : pieces_of_lesson(exported)) {
    if (piece.folded_under.empty()) markdown += without_placeholders(piece.markdown);
    if (!piece.output && piece.folded_under.empty()) continue;
    std::string html = piece.output ? as_html(*piece.output, outputs.size() + 1) : html_of(piece.markdown);
    if (!piece.folded_under.empty())
      html = fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", piece.folded_under, html);
    markdown += fmt::format("\n{}\n\n", placeholder);
    outputs.push_back(std::move(html));
  }
  const Lesson& lesson = exported.lesson;
  refuse_long_document(markdown, lesson.document.path + " with its output would be");
  const std::string policy = fmt::format("{}; img-src {}", HtmlHead{}.policy, places_of_pictures);
  return html_begin({.title = lesson.title, .policy = policy, .more_rules = rules_of_lessons}) +
         html_of(markdown, outputs) + std::string(html_end);
}

}  // namespace attn
