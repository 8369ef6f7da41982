#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "command/command.hpp"
#include "command/course_commands.hpp"
#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/session.hpp"
#include "school/puzzle/trial.hpp"

namespace attn {

namespace {

Answer list_puzzles(const Arguments& arguments) {
  const ProgressFile file = progress_so_far(arguments);
  Listing listing{{"mark", "number", "title", "level", "puzzle", "state"}, {}};
  listing.shown = 5;
  std::size_t number = 0;
  for (const Puzzle& puzzle : built_in_puzzles()) {
    const bool is_solved = file.progress.puzzles.contains(puzzle.name);
    listing.rows.push_back({is_solved ? "✓" : "", std::to_string(++number), puzzle.title, puzzle.level, puzzle.name,
                            is_solved ? "solved" : "open"});
  }
  return with_warning(page_of({std::move(listing), Prose{text("In each, you set numbers until a property holds. ",
                                                              code("attn puzzle NUMBER"), " begins one of them.")}}),
                      file, arguments);
}

constexpr int page_level = 1;  // of the heading of a page that is a puzzle

// What was set on the line and in a file, the file first.
std::vector<std::string> assignments(const Arguments& arguments) {
  std::vector<std::string> lines;
  if (const std::optional<std::string> path = arguments.text(option::answers)) lines = answers_in(read_bytes(*path));
  const std::vector<std::string>& set = arguments.texts(option::set);
  lines.insert(lines.end(), set.begin(), set.end());
  return lines;
}

// What is set on the line is the reader's own solution. A file may be somebody else's, and is only judged.
bool is_own(const Arguments& arguments) { return !arguments.has(option::answers); }

Answer check_settings(const Puzzle& puzzle, const std::vector<std::string>& lines, const Arguments& arguments) {
  Settings settings = settings_at_start(puzzle);
  for (const std::string& line : lines) assign(puzzle, line, settings);
  const Trial trial = trial_of(puzzle, std::move(settings), block_runner());
  std::vector<Block> blocks = opening_of(puzzle, page_level);
  std::ranges::move(numbers_of(puzzle, trial), std::back_inserter(blocks));
  blocks.push_back(verdict_of(puzzle, trial));
  blocks.emplace_back(properties_of(puzzle, trial));
  Answer answer = page_of(std::move(blocks));
  if (!trial.is_solved()) answer.verdict = Verdict::failed;
  if (trial.is_solved() && is_own(arguments))
    answer.afterwards =
        changing_progress(arguments, [puzzle](CourseProgress& progress) { mark_solved(puzzle, progress); });
  return answer;
}

// Off a terminal: what it is, and how to set something.
Answer show_puzzle(const Puzzle& puzzle, const std::string& word) {
  const Trial trial = trial_of(puzzle, settings_at_start(puzzle), block_runner());
  std::vector<Block> blocks = opening_of(puzzle, page_level);
  std::ranges::move(numbers_of(puzzle, trial), std::back_inserter(blocks));
  std::string command = "attn puzzle " + word;
  for (const Unknown& unknown : puzzle.unknowns)
    command += fmt::format(" --set '{} = {}'", unknown.name(), matrix_as_typed(unknown.start));
  blocks.emplace_back(Prose{text("Try numbers of your own: ", code(std::move(command)))});
  return page_of(std::move(blocks));
}

}  // namespace

std::vector<OptionChoice> choices::puzzles() {
  std::vector<OptionChoice> names;
  for (const PuzzleFile& file : puzzle_files()) names.push_back({file.name, ""});
  return names;
}

Answer run_puzzle(const Command&, const Arguments& arguments) {
  const std::vector<std::string> lines = assignments(arguments);
  if (arguments.words.empty()) {
    if (!lines.empty() || arguments.has(option::answers))
      fail("--set and --answers need a puzzle: attn puzzle NAME --set 'w_q = 1 0; 0 1'");
    return list_puzzles(arguments);
  }
  const std::string& word = arguments.words.front();
  auto puzzle = std::make_shared<const Puzzle>(find_puzzle(word));
  if (!lines.empty() || arguments.has(option::answers)) return check_settings(*puzzle, lines, arguments);
  if (!at_terminal(arguments)) return show_puzzle(*puzzle, word);
  return interactive(arguments, [puzzle](LessonTerminal& terminal) {
    terminal.show(opening_of(*puzzle, page_level));
    solve_puzzle(*puzzle, block_runner(), {terminal, puzzle_keys(), ""},
                 [&] { terminal.change([&](CourseProgress& progress) { mark_solved(*puzzle, progress); }); });
  });
}

}  // namespace attn
