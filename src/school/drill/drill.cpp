#include "school/drill/drill.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

// --- drill

std::span<const Drill> drills() {
  static const std::vector<Drill> all = [] {
    std::vector<Drill> rows;
    for (const auto& subject :
         {drills_of_scores(), drills_of_weights(), drills_of_shapes(), drills_of_layers(), drills_of_training()})
      rows.insert(rows.end(), subject.begin(), subject.end());
    return rows;
  }();
  return all;
}

// --- draws

namespace {

Generator seeded(std::initializer_list<std::uint32_t> numbers) {
  std::seed_seq mixed(numbers);
  return Generator(mixed);
}

// Libraries differ in how they make a number of a range out of bits, so that this is done here.
std::size_t place_of(Generator& generator, std::size_t count) {
  return static_cast<std::size_t>(uniform(generator) * static_cast<double>(count));
}

}  // namespace

Draws::Draws(std::uint32_t seed, std::uint32_t problem, std::uint32_t attempt)
    : kinds_(seeded({seed, problem})), generator_(seeded({seed, problem, attempt})) {}

std::size_t Draws::kind(std::size_t count) { return place_of(kinds_, count); }

int Draws::between(int least, int most) {
  return least + static_cast<int>(place(static_cast<std::size_t>(most - least + 1)));
}

std::size_t Draws::place(std::size_t count) { return place_of(generator_, count); }

WholeNumbers Draws::numbers(std::size_t rows, std::size_t columns, int least, int most, int step) {
  WholeNumbers numbers(rows, std::vector<int>(columns));
  for (std::vector<int>& row : numbers) {
    std::ranges::generate(row, [&] { return least + step * between(0, (most - least) / step); });
  }
  return numbers;
}

std::string written(const WholeNumbers& numbers) {
  std::string text;
  for (const std::vector<int>& row : numbers) {
    text += text.empty() ? "" : "; ";
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : " ") + std::to_string(row[i]);
  }
  return text;
}

const std::vector<Sentence>& sentences() {
  static const std::vector<Sentence> all = {
      {{"cats", "chase", "mice"}, {"chats", "chassent", "souris"}},
      {{"we", "read", "books"}, {"nous", "lisons", "livres"}},
      {{"she", "codes", "well"}, {"elle", "code", "bien"}},
      {{"birds", "eat", "seeds"}, {"oiseaux", "mangent", "graines"}},
      {{"the", "dog", "sleeps"}, {"le", "chien", "dort"}},
      {{"it", "rains", "again"}, {"il", "pleut", "encore"}},
  };
  return all;
}

// --- series

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
  if (!best) fail("no problem of {} could be made with seed {}", drill.name, seed_);
  MatricesShown shown;
  for (const Given& given : best->problem.given)
    note_tables(result_of(command_for(given, best->problem.question), run_).page->blocks, shown);
  best->solved.shown = std::make_shared<const MatricesShown>(std::move(shown));
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

// --- session

namespace {

constexpr std::array keys = {
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
    const AnswerKept kept{[&](const std::string&, bool right) { missed = missed || !right; }, [&] { missed = true; }};
    const std::string place = std::to_string(score_.asked + 1);
    const LessonAction end = attn::ask(drawn.solved, {conversation_, keys, place}, kept).action;
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
                                        prompt_of(keys, &LessonKey::at_pauses, "")));
      if (!typed) return false;
      if (typed->empty()) return true;
      const std::optional<KeyPress> pressed = key_press(*typed, keys);
      if (pressed && pressed->action == LessonAction::quit) return false;
      if (pressed && pressed->action == LessonAction::next) return true;
      if (pressed && pressed->action == LessonAction::help) {
        conversation_.show({listing_of(keys)});
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

void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation, std::vector<Block> begin) {
  conversation.show(std::move(begin));
  DrillSession(std::move(series), run, conversation).take();
}

}  // namespace attn
