#include "school/drill/drill.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

namespace {

// --- series

// A matrix as one line for a spreadsheet, with the decimals of its table: "x (rows the, cat) = 1 0; 0.25 -1.5".
std::string on_one_line(const Table& table) {
  const Matrix& cells = *table.cells;
  const int decimals = decimals_for({cells.data(), cells.size()}, CommandOutput{}.precision);
  std::vector<std::string> labels;
  for (const auto& [what, axis, count] : {std::tuple{"rows", &table.rows, cells.shape().rows},
                                          std::tuple{"columns", &table.columns, cells.shape().columns}}) {
    if (!axis->labels) continue;
    Words words;
    for (std::size_t i = 0; i < count; ++i) words.push_back(axis->label(i));
    labels.push_back(fmt::format("{} {}", what, fmt::join(words, ", ")));
  }
  std::string text = table.title;
  if (!labels.empty()) text += fmt::format(" ({})", fmt::join(labels, "; "));
  text += " = ";
  for (std::size_t i = 0; i < cells.shape().rows; ++i) {
    for (std::size_t j = 0; j < cells.shape().columns; ++j) {
      if (j > 0 || i > 0) text += j == 0 ? "; " : " ";
      append_fixed(text, cells(i, j), decimals);
    }
  }
  return text;
}

// --- session

constexpr std::array drill_keys = {
    saying(key::next, "next problem", "goes on to the next problem"),
    key::hint,
    saying(key::answer, "answer", "shows the answer and how it comes about"),
    saying(key::skip, "skip", "goes on to another problem; this one does not count"),
    key::help,
    saying(key::quit, "quit", "ends the drill"),
};

// How many problems were answered at the first try, of how many, and how many in a row without a miss.
struct Score {
  std::size_t first = 0, asked = 0, streak = 0, best_streak = 0;

  void count(bool is_first) {
    ++asked;
    first += is_first ? 1 : 0;
    streak = is_first ? streak + 1 : 0;
    best_streak = std::max(best_streak, streak);
  }
};

class DrillSession {
 public:
  DrillSession(DrillSeries series, const RunCommand& run, Conversation& conversation)
      : series_(std::move(series)), run_(run), conversation_(conversation) {}

  void take() {
    for (;;) {
      const LessonAction end = ask(series_.next());
      if (end == LessonAction::quit || (end != LessonAction::skip && !pause())) break;
    }
    if (score_.asked == 0) return;
    conversation_.say(fmt::format("{}, {} correct at the first try. Longest streak: {}.",
                                  count_of(score_.asked, "problem"), score_.first, score_.best_streak));
  }

 private:
  // How it ended: with a key that leads away, or answered.
  LessonAction ask(const DrawnProblem& drawn) {
    conversation_.show(shown(drawn, run_));
    bool missed = false;
    const AnswerListener kept{[&](const std::string&, bool right) { missed = missed || !right; },
                              [&] { missed = true; }};
    const std::string place = std::to_string(score_.asked + 1);
    const LessonAction end = attn::ask(drawn.solved, {conversation_, drill_keys, place}, kept).action;
    if (end == LessonAction::quit || end == LessonAction::skip) return end;
    score_.count(!missed);
    conversation_.show(solution_of(drawn, run_));
    return end;
  }

  // Whether the reader goes on.
  bool pause() {
    for (;;) {
      const std::optional<std::string> typed =
          conversation_.ask(fmt::format("[{} of {} correct · streak {}] {}", score_.first, score_.asked, score_.streak,
                                        prompt_of(drill_keys, &LessonKey::at_pauses, "")));
      if (!typed) return false;
      if (typed->empty()) return true;
      const std::optional<KeyPress> pressed = key_press(*typed, drill_keys);
      if (pressed && pressed->action == LessonAction::quit) return false;
      if (pressed && pressed->action == LessonAction::next) return true;
      if (pressed && pressed->action == LessonAction::help) {
        conversation_.show({listing_of(drill_keys)});
      } else {
        conversation_.say(
            fmt::format("'{}' does nothing here. Press Enter for the next problem, or q to end.", *typed));
      }
    }
  }

  DrillSeries series_;
  const RunCommand& run_;
  Conversation& conversation_;
  Score score_;
};

}  // namespace

// --- series

CommandResult result_of_command(const std::string& command, const DrawnProblem& drawn, const RunCommand& run) {
  const Place& place = drawn.problem.question.place;
  return run_alone(command_lines(command, place.path, place.line).front().words, run);
}

std::string command_of_solution(const DrillProblem& problem) { return problem.question.on + " " + problem.solution; }

std::string command_for(const GivenMatrices& given, const Question& question) {
  const std::string& command = given.command.empty() ? question.on : given.command;
  return fmt::format("{} --only '{}'", command, given.only);
}

DrillSeries::DrillSeries(std::vector<Drill> drills, std::uint32_t seed, RunCommand run,
                         std::vector<const Mistake*> mistakes)
    : seed_(seed), run_(std::move(run)), mistakes_(std::move(mistakes)) {
  for (Drill& drill : drills) drills_.push_back(std::make_shared<const Drill>(std::move(drill)));
}

DrawnProblem DrillSeries::next() {
  constexpr int most_seeds = 20;  // until a problem is there once more
  const std::shared_ptr<const Drill> drill = drills_[number_ % drills_.size()];
  ++number_;
  std::optional<DrawnProblem> drawn;
  for (int i = 0; i < most_seeds; ++i) {
    drawn = draw(drill, seed_);
    seed_ = seed_after(seed_);
    if (seen_.insert(drawn->problem.question.on + drawn->problem.question.ask).second) break;
  }
  MatricesShown shown;
  for (const GivenMatrices& given : drawn->problem.given)
    note_tables(result_of_command(command_for(given, drawn->problem.question), *drawn, run_).page->blocks, shown);
  drawn->solved.shown = std::make_shared<const MatricesShown>(std::move(shown));
  return std::move(*drawn);
}

// How badly a problem serves: whether none of the mistakes it is drawn for shows in it, and how many mistakes have the
// correct answer.
std::pair<bool, std::size_t> DrillSeries::faults_of(const SolvedQuestion& solved) const {
  const auto shows = [&](const RecognizedAnswer& one) {
    return std::ranges::find(mistakes_, one.mistake) != mistakes_.end();
  };
  const bool shows_none = !mistakes_.empty() && std::ranges::none_of(recognizable_answers(solved), shows);
  return {shows_none, cannot_be_told_apart(solved).size()};
}

DrawnProblem DrillSeries::draw(const std::shared_ptr<const Drill>& drill, std::uint32_t seed) const {
  constexpr std::uint32_t most_draws = 100, patience = 4;
  std::optional<DrawnProblem> best;
  const OptionalSandbox guest(!drill->is_built_in, drill->folder);
  std::pair<bool, std::size_t> fewest;
  std::uint32_t in_vain = 0;  // draws since then
  std::string in_the_way;     // of the last one that has no answer
  for (std::uint32_t attempt = 0; attempt < most_draws && in_vain < patience; ++attempt) {
    Draws draws{seed, attempt};
    DrawnProblem drawn{drill, seed, draw_problem(*drill, draws), {}};
    if (best) ++in_vain;
    try {
      drawn.solved = solve_alone(drawn.problem.question, run_);
    } catch (const InputError& error) {
      in_the_way = error.what();  // it has no one answer, or a note would be on the correct one
      continue;
    }
    const std::pair<bool, std::size_t> faults = faults_of(drawn.solved);
    if (!best || faults < fewest) {
      best = std::move(drawn);
      fewest = faults;
      in_vain = 0;
    }
    if (fewest == std::pair<bool, std::size_t>()) break;
  }
  if (!best) fail("no problem of {} could be made with seed {}: {}", drill->name, seed, in_the_way);
  return std::move(*best);
}

std::vector<Block> shown(const DrawnProblem& drawn, const RunCommand& run) {
  const OptionalSandbox guest(!drawn.drill->is_built_in, drawn.drill->folder);
  const Question& question = drawn.problem.question;
  std::vector<Block> blocks;
  SideBySide matrices;
  for (const GivenMatrices& given : drawn.problem.given) {
    for (Table& table : tables_of(result_of_command(command_for(given, question), drawn, run).page->blocks))
      matrices.tables.push_back(std::move(table));
  }
  if (!matrices.tables.empty()) blocks.emplace_back(std::move(matrices));
  blocks.push_back(shown(question));
  return blocks;
}

std::string given_numbers(const DrawnProblem& drawn, const RunCommand& run) {
  const OptionalSandbox guest(!drawn.drill->is_built_in, drawn.drill->folder);
  std::vector<std::string> matrices;
  for (const GivenMatrices& given : drawn.problem.given) {
    const CommandResult result = result_of_command(command_for(given, drawn.problem.question), drawn, run);
    for (const Table& table : tables_of(result.page->blocks)) matrices.push_back(on_one_line(table));
  }
  return fmt::format("{}", fmt::join(matrices, ", "));
}

std::vector<Block> solution_of(const DrawnProblem& drawn, const RunCommand& run) {
  const OptionalSandbox guest(!drawn.drill->is_built_in, drawn.drill->folder);
  const std::string command = command_of_solution(drawn.problem);
  return {CodeBlock{"console", "$ " + command}, output_of(result_of_command(command, drawn, run))};
}

// --- session

void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation, std::vector<Block> begin) {
  conversation.show(std::move(begin));
  DrillSession(std::move(series), run, conversation).take();
}

}  // namespace attn
