#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "command/block_runner.hpp"
#include "command/command.hpp"
#include "command/course.hpp"
#include "drill/drill.hpp"
#include "drill/series.hpp"
#include "drill/session.hpp"
#include "lesson/marking.hpp"
#include "support/lookup.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

constexpr std::size_t usual_count = 10;

Outcome list_of_drills() {
  Listing listing{{"drill", "what it trains"}, {}};
  for (const Drill& drill : drills())
    listing.rows.push_back({std::string(drill.name), std::string(drill.trains)});
  Outcome outcome;
  outcome.page.say(std::move(listing));
  outcome.page.say(text(code("attn drill softmax"), " asks problem after problem; several names take turns. ",
                        code("attn drill softmax --seed 7 --count 10"),
                        " is for a class: the same seed gives the same problems everywhere."));
  return outcome;
}

std::vector<Drill> drills_named(const Arguments& arguments) {
  std::vector<Drill> named;
  for (const std::string& name : arguments.words) named.push_back(look_up(drills(), name, "drill"));
  return named;
}

std::string title_of(std::span<const Drill> named) {
  std::vector<std::string> names;
  for (const Drill& drill : named) {  // each once, however often it has its turn
    if (std::ranges::find(names, drill.name) == names.end()) names.emplace_back(drill.name);
  }
  return "Drill: " + listed(names);
}

// A drill at a terminal begins with other problems each time, unless a seed is given.
std::uint32_t seed_of(const Arguments& arguments) {
  if (const std::optional<std::size_t> seed = arguments.count(option::seed))
    return static_cast<std::uint32_t>(*seed);
  const bool varies = at_terminal(arguments) && arguments.environment->new_seed;
  return varies ? arguments.environment->new_seed() : 1;
}

Outcome session(const std::vector<Drill>& named, std::uint32_t seed) {
  Outcome outcome;
  outcome.session = [named, seed](Terminal& terminal, const Style& style) {
    Conversation conversation(terminal, style);
    std::vector<Block> begin = {Heading{1, text(title_of(named))}};
    for (const Drill& drill : named)
      begin.emplace_back(Prose{text(fmt::format("Trains: {}.", drill.trains))});
    begin.emplace_back(
        Prose{text(fmt::format("Seed {}: --seed {} asks the same problems again.", seed, seed))});
    take_drill(DrillSeries(named, seed, block_runner()), block_runner(), conversation, std::move(begin));
  };
  return outcome;
}

std::vector<DrawnProblem> draw(const std::vector<Drill>& named, std::uint32_t seed, std::size_t count) {
  DrillSeries series(named, seed, block_runner());
  std::vector<DrawnProblem> problems;
  while (problems.size() < count) problems.push_back(series.next());
  return problems;
}

// What stands below a problem of a sheet.
using Below = std::function<void(Page& page, std::size_t problem)>;

Page sheet(std::string title, const std::vector<DrawnProblem>& problems, const Below& below) {
  Page page;
  page.head(1, std::move(title));
  for (std::size_t i = 0; i < problems.size(); ++i) {
    page.head(2, fmt::format("Problem {}", i + 1));
    for (Block& block : shown(problems[i], block_runner())) page.say(std::move(block));
    below(page, i);
  }
  return page;
}

void add_answer(Page& page, const DrawnProblem& problem) {
  auto answer = std::make_shared<Page>();
  answer->say(Note{Note::Kind::answer, {text(strong("Answer: "), rounded_answer(problem.solved))}});
  for (Block& block : solution_of(problem, block_runner())) answer->say(std::move(block));
  page.say(Folded{"Answer", std::move(answer)});
}

// The problems as a table for programs and spreadsheets.
Records records_of(const std::vector<DrawnProblem>& problems, std::uint32_t seed, bool with_answers) {
  Records records{"problems", {"number", "drill", "seed", "question", "kind", "given"}, {}};
  if (with_answers) records.members.emplace_back("answer");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Question& question = problems[i].problem.question;
    std::vector<Records::Value>& row = records.rows.emplace_back();
    row = {std::to_string(i + 1),
           std::string(problems[i].drill),
           std::to_string(seed),
           question.ask,
           std::string(name_of(question.kind)),
           given_numbers(problems[i], block_runner())};
    if (with_answers) row.emplace_back(rounded_answer(problems[i].solved));
  }
  return records;
}

Outcome marked_sheet(std::string title, const std::vector<DrawnProblem>& problems, const std::string& path) {
  std::vector<SolvedQuestion> questions;
  for (const DrawnProblem& problem : problems) questions.push_back(problem.solved);
  const std::vector<MarkedHandIn> marks = marked(questions, hand_ins(path));
  Outcome outcome;
  if (marks.size() == 1) {
    outcome.page = sheet(std::move(title), problems, [&](Page& page, std::size_t i) {
      page.say(note_on(questions[i], marks.front().answers[i]));
    });
    for (Block& block : summary_of(questions, marks.front())) outcome.page.say(std::move(block));
  } else {
    outcome.page.head(1, std::move(title));
    for (Block& block : class_marks(questions, marks)) outcome.page.say(std::move(block));
  }
  outcome.verdict = verdict_on(marks);
  return outcome;
}

}  // namespace

std::vector<OptionChoice> choices::drills() {
  std::vector<OptionChoice> names;
  for (const Drill& drill : attn::drills()) names.push_back({drill.name, drill.trains});
  return names;
}

Outcome run_drill(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) {
    for (const Option* option : {&option::answers, &option::with_answers, &option::problems, &option::seed}) {
      if (arguments.has(*option)) fail("{} needs a drill: attn drill lists their names", option->name);
    }
    return list_of_drills();
  }
  const std::vector<Drill> named = drills_named(arguments);
  const std::uint32_t seed = seed_of(arguments);
  const bool is_sheet =
      arguments.has_any(std::array{&option::problems, &option::with_answers, &option::answers});
  if (at_terminal(arguments) && !is_sheet) return session(named, seed);
  const std::size_t count = arguments.count(option::problems).value_or(usual_count);
  const std::vector<DrawnProblem> problems = draw(named, seed, count);
  std::string title = fmt::format("{} (seed {})", title_of(named), seed);
  if (const std::optional<std::string> path = arguments.text(option::answers))
    return marked_sheet(std::move(title), problems, *path);
  Outcome outcome;
  outcome.page = sheet(std::move(title), problems, [&](Page& page, std::size_t i) {
    if (arguments.has(option::with_answers)) add_answer(page, problems[i]);
  });
  outcome.page.say(records_of(problems, seed, arguments.has(option::with_answers)));
  return outcome;
}

}  // namespace attn
