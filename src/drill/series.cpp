#include "drill/series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "lesson/diagnosis.hpp"
#include "lesson/lesson.hpp"
#include "lesson/show.hpp"
#include "puzzle/assignment.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

CommandResult result_of(const std::string& command, const RunCommand& run) {
  return run_alone(command_lines(command, "drill", 1).front().words, run);
}

Block output_of(const std::string& command, const RunCommand& run) {
  const CommandResult result = result_of(command, run);
  return CommandOutput{result.page,          result.style.precision, result.style.full,
                       result.style.unicode, result.width,           result.style.is_precise};
}

std::string command_for(const Given& given, const Question& question) {
  const std::string& command = given.command.empty() ? question.on : given.command;
  return fmt::format("{} --only '{}'", command, given.only);
}

}  // namespace

DrillSeries::DrillSeries(std::vector<Drill> drills, std::uint32_t seed, RunCommand run)
    : drills_(std::move(drills)), seed_(seed), run_(std::move(run)) {}

DrawnProblem DrillSeries::next() {
  const Drill& drill = drills_[number_ % drills_.size()];
  ++number_;
  return draw(drill);
}

DrawnProblem DrillSeries::draw(const Drill& drill) {
  constexpr std::uint32_t most_draws = 100, patience = 4;
  std::optional<DrawnProblem> best;
  std::size_t fewest = 0;     // mistakes with the same answer
  std::uint32_t in_vain = 0;  // draws since then
  for (std::uint32_t attempt = 0; attempt < most_draws && in_vain < patience; ++attempt) {
    Draws draws{seed_, number_, attempt};
    DrawnProblem drawn{drill.name, drill.draw(draws), {}};
    const bool is_new = !seen_.contains(drawn.problem.question.on + drawn.problem.question.ask);
    if (best) ++in_vain;
    if (!is_new && best) continue;
    try {
      drawn.solved = solve_alone(drawn.problem.question, run_);
    } catch (const InputError&) {
      continue;  // it has no one answer, or a note would be on the correct one
    }
    // One that was there before is the last resort.
    const std::size_t faults = is_new ? cannot_be_told_apart(drawn.solved).size() : most_draws;
    if (!best || faults < fewest) {
      best = std::move(drawn);
      fewest = faults;
      in_vain = 0;
    }
    if (fewest == 0) break;
  }
  if (!best) fail("no problem of {} could be drawn with seed {}", drill.name, seed_);
  seen_.insert(best->problem.question.on + best->problem.question.ask);
  return std::move(*best);
}

std::vector<Block> shown(const DrawnProblem& drawn, const RunCommand& run) {
  const Question& question = drawn.problem.question;
  std::vector<Block> blocks;
  for (const Given& given : drawn.problem.given) {
    blocks.push_back(output_of(command_for(given, question), run));
  }
  blocks.push_back(shown(question));
  return blocks;
}

std::string given_numbers(const DrawnProblem& drawn, const RunCommand& run) {
  std::vector<std::string> matrices;
  for (const Given& given : drawn.problem.given) {
    const CommandResult result = result_of(command_for(given, drawn.problem.question), run);
    for (const Table& table : tables_of(result.page->blocks))
      matrices.push_back(fmt::format("{} = {}", table.title, typed(*table.cells)));
  }
  return fmt::format("{}", fmt::join(matrices, ", "));
}

std::vector<Block> solution_of(const DrawnProblem& drawn, const RunCommand& run) {
  const std::string command = drawn.problem.question.on + " " + drawn.problem.solution;
  return {CodeBlock{"console", "$ " + command}, output_of(command, run)};
}

}  // namespace attn
