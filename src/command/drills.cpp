#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "command/command.hpp"
#include "command/course_commands.hpp"
#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "school/drill/drill.hpp"
#include "school/drill/sheet.hpp"
#include "school/lesson/marking.hpp"

namespace attn {

namespace {

Answer list_of_drills() {
  Listing listing{{"drill", "what it trains"}, {}};
  for (const Drill& drill : built_in_drills()) listing.rows.push_back({drill.name, drill.trains});
  Answer answer;
  answer.page.say(std::move(listing));
  answer.page.say(text(code("attn drill softmax"), " asks problem after problem; several names take turns. ",
                       code("attn drill softmax --seed 7 --count 10"),
                       " is for a class: the same seed gives the same problems everywhere."));
  return answer;
}

std::vector<Drill> asked_drills(const Arguments& arguments) {
  std::vector<Drill> named;
  for (const std::string& name : arguments.words) named.push_back(find_drill(name));
  return named;
}

std::string title_of_drills(std::span<const Drill> named) {
  std::vector<std::string> names;
  for (const Drill& drill : named) {  // each once, however often it has its turn
    if (std::ranges::find(names, drill.name) == names.end()) names.push_back(drill.name);
  }
  return "Drill: " + list_in_words(names);
}

// A drill at a terminal begins with other problems each time, unless a seed is given.
std::uint32_t seed_of(const Arguments& arguments) {
  if (const std::optional<std::size_t> seed = arguments.count(option::seed)) return static_cast<std::uint32_t>(*seed);
  const bool varies = at_terminal(arguments) && arguments.environment->new_seed;
  return varies ? arguments.environment->new_seed() : 1;
}

Answer session(const DrillSheet& asked) {
  Answer answer;
  answer.session = [asked](Terminal& terminal, const Style& style) {
    Conversation conversation(terminal, style);
    std::vector<Block> begin = {Heading{1, text(title_of_drills(asked.drills))}};
    for (const Drill& drill : asked.drills) begin.emplace_back(Prose{text(fmt::format("Trains: {}.", drill.trains))});
    begin.emplace_back(
        Prose{text(fmt::format("Seed {}: --seed {} asks the same problems again.", asked.seed, asked.seed))});
    take_drill(DrillSeries(asked.drills, asked.seed, block_runner(), asked.mistakes), block_runner(), conversation,
               std::move(begin));
  };
  return answer;
}

// The sheet that is asked for.
DrillSheet sheet_asked_for(std::vector<Drill> named, std::uint32_t seed, const Arguments& arguments) {
  DrillSheet sheet{std::move(named), seed, arguments.count(option::problems).value_or(DrillSheet{}.count)};
  for (const std::string& name : arguments.texts(option::mistake)) sheet.mistakes.push_back(&find_mistake(name));
  return sheet;
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
  page.say(FoldedBlock{"Answer", std::move(answer)});
}

// The problems as a table for programs and spreadsheets.
Records problem_records(const std::vector<DrawnProblem>& problems, bool with_answers) {
  Records records{"problems", {"number", "drill", "seed", "question", "kind", "given"}, {}};
  if (with_answers) records.members.emplace_back("answer");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Question& question = problems[i].problem.question;
    std::vector<Records::Value>& row = records.rows.emplace_back();
    row = {i + 1,
           problems[i].drill->name,
           std::uint64_t{problems[i].seed},
           question.ask,
           std::string(name_of(question.kind)),
           given_numbers(problems[i], block_runner())};
    if (with_answers) row.emplace_back(rounded_answer(problems[i].solved));
  }
  return records;
}

Answer marked_sheet(std::string title, const std::vector<DrawnProblem>& problems, const std::string& path) {
  std::vector<SolvedQuestion> questions;
  for (const DrawnProblem& problem : problems) questions.push_back(problem.solved);
  const std::vector<MarkedHandIn> marks = marked(questions, hand_ins(path));
  Answer answer;
  if (marks.size() == 1) {
    answer.page = sheet(std::move(title), problems,
                        [&](Page& page, std::size_t i) { page.say(note_on(questions[i], marks.front().answers[i])); });
    for (Block& block : summary_of(questions, marks.front())) answer.page.say(std::move(block));
  } else {
    answer.page.head(1, std::move(title));
    for (Block& block : class_marks(questions, marks)) answer.page.say(std::move(block));
  }
  answer.verdict = verdict_on(marks);
  return answer;
}

// What was drawn of each kind of problem, so that authors see what their drill asks.
Answer check_drills(const Arguments& arguments) {
  Answer answer;
  std::string faults;
  Listing listing{{"drill", "problems", "answers", "without an answer"}, {}, true};
  std::size_t drawn = 0;
  for (auto path = arguments.words.begin() + 1; path != arguments.words.end(); ++path) {
    const CheckedDrill checked = check_drill(read_bytes(*path), *path, block_runner());
    for (const std::string& fault : checked.faults) faults += (faults.empty() ? "" : "\n") + fault;
    drawn = checked.drawn;
    for (const CheckedDrill::Kind& kind : checked.kinds) {
      listing.rows.push_back({fmt::format("{}:{}", kind.place.path, kind.place.line), std::to_string(kind.problems),
                              std::to_string(kind.answers), std::to_string(kind.unsolved)});
    }
  }
  if (faults.empty())
    return page_of(
        {Prose{text(fmt::format(
             "Nothing is wrong. Among {} draws of each there are so many different problems and answers. A problem without one answer is drawn again.",
             drawn))},
         std::move(listing)});
  answer.page.say(CodeBlock{"text", std::move(faults)});
  answer.verdict = Verdict::failed;
  return answer;
}

Answer begin_drill(const Arguments& arguments) {
  return begin_document(
      "a drill", [](const std::string&) { return std::string(drill_template()); }, {"attn drill check", "attn drill"},
      arguments);
}

const std::array action_table_of_drill = {
    Action{"new",
           "print the beginning of a drill of your own, or write it to a file",
           {{"FILE", PositionalArgument::Count::optional, Kind::path}},
           begin_drill,
           {&option::yes}},
    Action{
        "check", "check drills that you write", {{"FILE", PositionalArgument::Count::some, Kind::path}}, check_drills},
};

}  // namespace

std::span<const Action> drill_actions() { return action_table_of_drill; }

std::vector<OptionChoice> choices::drills() {
  static const std::vector<Drill> drills = built_in_drills();
  std::vector<OptionChoice> names;
  for (const Drill& drill : drills) names.push_back({drill.name, drill.trains});
  return names;
}

Answer run_drill(const Command& command, const Arguments& arguments) {
  constexpr std::array practicing = {&option::answers, &option::with_answers, &option::problems, &option::seed,
                                     &option::mistake};
  const Action* const action = arguments.words.empty() ? nullptr : find_row(command.actions, arguments.words.front());
  if (arguments.words.empty() || action) {
    for (const Option* option : practicing) {
      if (arguments.has(*option)) fail("{} needs a drill: attn drill lists their names", option->name);
    }
  }
  if (action) return run_action(command, *action, arguments);
  refuse_idle(command, "attn drill NAME", {}, arguments);
  if (arguments.words.empty()) return list_of_drills();
  const std::uint32_t seed = seed_of(arguments);
  const DrillSheet asked = sheet_asked_for(asked_drills(arguments), seed, arguments);
  const bool is_sheet = arguments.has_any(std::array{&option::problems, &option::with_answers, &option::answers});
  if (at_terminal(arguments) && !is_sheet) return session(asked);
  const std::vector<DrawnProblem> problems = problems_of(asked, block_runner());
  std::string title = fmt::format("{} (seed {})", title_of_drills(asked.drills), seed);
  if (const std::optional<std::string> path = arguments.text(option::answers))
    return marked_sheet(std::move(title), problems, *path);
  Answer answer;
  if (arguments.has(option::with_answers)) {
    answer.page = sheet(std::move(title), problems, [&](Page& page, std::size_t i) { add_answer(page, problems[i]); });
  } else {
    answer.page = sheet(std::move(title), problems, [](Page& page, std::size_t) { page.say(line_for_answer()); });
    answer.page.blocks.insert(answer.page.blocks.begin() + 1, Prose{head_of_sheet(command_of(asked))});
  }
  answer.page.say(problem_records(problems, arguments.has(option::with_answers)));
  return answer;
}

}  // namespace attn
