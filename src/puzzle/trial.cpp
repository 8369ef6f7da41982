#include "puzzle/trial.hpp"

#include <algorithm>
#include <optional>

#include "support/error.hpp"

namespace attn {
namespace {

std::vector<std::string> with_settings(std::vector<std::string> words, const Puzzle& puzzle,
                                       const Settings& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    words.emplace_back(puzzle.unknowns[i].option->name);
    words.push_back(typed(settings[i]));
  }
  return words;
}

}  // namespace

bool Trial::is_solved() const {
  return std::ranges::all_of(verdicts, [](const PropertyVerdict& verdict) { return verdict.misses.empty(); });
}

std::size_t Trial::telling_input() const {
  const auto first =
      std::ranges::find_if(verdicts, [](const PropertyVerdict& verdict) { return !verdict.misses.empty(); });
  return first == verdicts.end() ? 0 : first->input;
}

Trial tried(const Puzzle& puzzle, Settings settings, const RunCommand& run) {
  std::optional<Guest> guest;  // one that is built in is no guest, and may stand in a document
  if (puzzle.name.empty()) guest.emplace(puzzle.folder);
  Trial trial{std::move(settings)};
  for (const std::vector<std::string>& command : puzzle.commands) {
    const CommandResult result = run_alone(with_settings(command, puzzle, trial.settings), run);
    if (!result.computation.graph)
      fail("attn {} computes nothing: give attn walk or another step", command.front());
    const std::size_t input = trial.graphs.size();
    trial.graphs.push_back(result.computation.graph);
    for (const Property& property : puzzle.holds)
      trial.verdicts.push_back({&property, input, misses_of(property, *trial.graphs.back())});
  }
  if (trial.is_solved()) return trial;
  for (const PuzzleNote& note : puzzle.notes) {
    if (holds(note.when, *trial.graphs[trial.telling_input()])) trial.notes.push_back(note.says);
  }
  return trial;
}

std::vector<std::string> faults_of(const Puzzle& puzzle, const RunCommand& run) {
  std::vector<std::string> faults;
  if (puzzle.hints.empty()) faults.emplace_back("the puzzle has no hint: give it a line hint:");
  try {
    if (tried(puzzle, settings_at_start(puzzle), run).is_solved())
      faults.emplace_back("the puzzle is solved before anything is set: begin with other numbers");
  } catch (const InputError& error) {
    faults.push_back(
        fmt::format("the puzzle cannot be computed with the numbers that it begins with: {}", error.what()));
  }
  if (puzzle.solution.empty()) {
    faults.emplace_back("the puzzle has no solution: give it a line solution: for each matrix to set");
    return faults;
  }
  try {
    Settings settings = settings_at_start(puzzle);
    for (const std::string& line : puzzle.solution) assign(puzzle, line, settings);
    const Trial trial = tried(puzzle, settings, run);
    for (const std::shared_ptr<const Graph>& graph : trial.graphs) {
      for (const std::string& name : puzzle.shows) graph->matching(name);  // says which there is not
    }
    for (const PropertyVerdict& verdict : trial.verdicts) {
      if (!verdict.misses.empty())
        faults.push_back(fmt::format("the solution is none: {}", verdict.misses.front().says));
    }
  } catch (const InputError& error) {
    faults.push_back(fmt::format("solution: {}", error.what()));
  }
  return faults;
}

}  // namespace attn
