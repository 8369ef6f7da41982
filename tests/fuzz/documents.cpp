// Documents whose output is kept current, lessons, puzzles, and what is remembered of them.

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "fuzz.hpp"
#include "page/document/document_outputs.hpp"
#include "page/document/markdown.hpp"
#include "page/render/format.hpp"
#include "school/drill/drill.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/lint.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/whole_lesson.hpp"
#include "school/puzzle/trial.hpp"

namespace attn::fuzz {
namespace {

// A command that prints its words, whatever they are; in Markdown only letters, as our own Markdown is whole.
CommandResult echo(const std::vector<std::string>& words, const BlockStyle& style) {
  CommandResult result;
  result.format = look_up(formats(), style.format.value_or("text"), "format").name;
  for (const std::string& word : words) {
    if (word == "wrong") fail("a command that is wrong");
    result.text += word + "\n";
  }
  if (result.format == "markdown")
    std::ranges::replace_if(
        result.text, [](char c) { return (c < 'a' || c > 'z') && c != '\n'; }, 'x');
  result.text += "0.12345\n";
  if (result.format == "svg") {
    Page page;
    page.say(result.text);
    result.page = std::make_shared<const Page>(std::move(page));
  }
  return result;
}

std::vector<std::vector<std::string>> command_words(const Document& document) {
  std::vector<std::vector<std::string>> words;
  for (const CommandBlock& block : document.commands) {
    for (const CommandLine& line : block.lines) words.push_back(line.words);
  }
  return words;
}

// Only outputs change, and only once.
void document(std::string_view text) {
  const Document before = read_document(text, "case.md");
  require(bytes_of(before) == text, "a document keeps its bytes");
  const std::string updated = with_outputs(before, outputs_of(before, echo));
  must("a document can be read once it is updated", [&] {
    const Document after = read_document(updated, "case.md");
    require(command_words(after) == command_words(before), "outputs change no commands");
    require(without_outputs(after) == without_outputs(before), "outputs alone change");
    const std::vector<BlockOutput> outputs = outputs_of(after, echo);
    require(with_outputs(after, outputs) == updated, "what is current stays");
    require(stale_blocks(after, outputs).empty(), "what was updated is current");
  });
}

void markdown(std::string_view text) {
  for (const MarkdownLeaf& leaf : markdown_leaves(text))
    require(leaf.first_line > 0 && leaf.last_line >= leaf.first_line, "a leaf has lines");
  refuse_oversized_tables(text, "case.md");
  const std::string html = html_of(text);
  require(html.find("<script") == std::string::npos, "HTML of a text is left out");
  require(html.find("href=\"javascript:") == std::string::npos, "no link is a program");
}

// Run as the program does, with the quick ones of its commands.
void lesson(std::string_view text) {
  const std::string path = folder() + "/case.md";
  check_lesson(text, path, quick_runner());
  const Lesson lesson = read_lesson(text, path);
  const LessonResult result = execute(lesson, quick_runner());
  const Page page{.blocks = with_answers(lesson, result)};
  printed([&](Sink& sink) { render_text(page, {.width = 80}, sink); });
  const std::string html = exported_html({lesson, result});
  require(html.find("<script") == std::string::npos, "an exported lesson holds no program");
  exported_markdown({lesson, result});
}

// Sets what a line says, if it can be read: what is set can be typed again, and else nothing is set.
void set_line(const Puzzle& puzzle, std::string_view line, Settings& settings) {
  const Settings before = settings;
  try {
    assign(puzzle, line, settings);
  } catch (const InputError&) {
    require(settings == before, "a line that cannot be read sets nothing");
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Matrix again = must("a matrix that was set can be typed", [&] {
      return read_numbers(matrix_as_typed(settings[i]), puzzle.unknowns[i].name(), puzzle.unknowns[i].start.shape());
    });
    require(again == settings[i], "a matrix that is typed is the one that was set");
  }
}

// The first puzzle of a document. Its solution and the lines behind it are set, one after the other.
void puzzle(std::string_view text) {
  const Document document = read_document(text, folder() + "/case.md");
  if (document.puzzles.empty()) return;
  const FencedBlock& block = document.puzzles.front();
  const Puzzle puzzle = read_puzzle(document, block);
  if (!std::ranges::all_of(puzzle.commands, is_quick, &Puzzle::Command::words)) return;
  const RunCommand run = [](const std::vector<std::string>& words, const BlockStyle& style) {
    const Budget budget(of_case);
    return block_runner()(words, style);
  };
  faults_of(puzzle, run);
  Settings settings = settings_at_start(puzzle);
  for (const std::string& line : puzzle.solution) set_line(puzzle, line, settings);
  for (std::size_t line = block.last_line; line < document.lines.size(); ++line)
    set_line(puzzle, without_ending(document.lines[line]), settings);
  const Trial trial = trial_of(puzzle, settings, run);
  for (const PropertyVerdict& verdict : trial.verdicts)
    require(holds(*verdict.property, *trial.graphs[verdict.input]) == verdict.misses.empty(),
            "a property that holds is missed nowhere");
  Page page{.blocks = opening_of(puzzle)};
  std::ranges::move(numbers_of(puzzle, trial), std::back_inserter(page.blocks));
  page.blocks.push_back(verdict_of(puzzle, trial));
  printed([&](Sink& sink) { render_text(page, {.width = 80}, sink); });
}

// A drill, of which a few problems are drawn and filled in.
void drill(std::string_view text) {
  const Drill drill = read_drill(text, folder() + "/case.md");
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const DocumentSandbox guest(drill.folder);
    const Budget budget(of_case);
    Draws draws{seed, 0}, again{seed, 0};
    const DrillProblem problem = draw_problem(drill, draws);
    require(draw_problem(drill, again).question.on == problem.question.on, "a seed draws the same problem again");
    const std::vector<std::string> words = command_lines(problem.question.on, "case.md", 1).front().words;
    if (is_quick(words)) solve_alone(problem.question, block_runner());
  }
}

void progress(std::string_view bytes) {
  write_case("state.json", bytes);
  const std::string path = folder() + "/state.json";
  const std::string once = bytes_of(read_progress(path).progress);
  write_case("state.json", once);
  const ProgressFile again = must("progress can be read back", [&] { return read_progress(path); });
  require(!again.is_damaged && bytes_of(again.progress) == once, "progress that was written is read back");
}

constexpr std::array table = {
    Target{"document", document}, Target{"markdown", markdown}, Target{"lesson", lesson},
    Target{"puzzle", puzzle},     Target{"drill", drill},       Target{"progress", progress},
};

}  // namespace

std::span<const Target> documents() { return table; }

}  // namespace attn::fuzz
