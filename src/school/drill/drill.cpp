#include "school/drill/drill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"

namespace attn {

namespace {

// --- drill

constexpr std::size_t most_draws_of_problem = 100;  // lines
constexpr std::size_t most_kinds = 10;

struct DrillKey {
  std::string_view name;
  bool repeats;
  void (*set)(ProblemKind& kind, const Entry& entry);
};

void add_draw(ProblemKind& kind, const Entry& entry) {
  if (kind.draws.size() == most_draws_of_problem) fail("a problem has at most {} lines that draw", kind.draws.size());
  kind.draws.push_back(entry);
}

void add_line_of_question(ProblemKind& kind, const Entry& entry) { kind.asks.push_back(entry); }

// Its own, and those of a question, which are read when they are filled in.
const std::vector<DrillKey>& keys_of_drills() {
  static const std::vector<DrillKey> keys = [] {
    std::vector<DrillKey> all = {
        {"often", false,
         [](ProblemKind& kind, const Entry& entry) { kind.often = whole_number("often", entry.value, 1, most_kinds); }},
        {"draw", true, add_draw},
        {"about", true, add_draw},
        {"let", true, add_draw},
        {"keep", true, add_draw},
        {"given", true, [](ProblemKind& kind, const Entry& entry) { kind.given.push_back(entry); }},
        {"solution", false, [](ProblemKind& kind, const Entry& entry) { kind.solution = entry; }},
    };
    for (const std::string_view name : keys_of_questions()) {
      constexpr std::array of_lessons = {"predict", "why", "because"};
      if (std::ranges::find(of_lessons, name) == of_lessons.end()) all.push_back({name, true, add_line_of_question});
    }
    return all;
  }();
  return keys;
}

ProblemKind read_kind(const Document& document, const FencedBlock& block) {
  ProblemKind kind;
  kind.place = document.at(block.first_line);
  set_by_keys(std::span<const DrillKey>(keys_of_drills()), "key of a drill",
              entries_of(document, block.first_line + 1, block.last_line, block.margin), document.path, kind);
  at_place(kind.place, [&] {
    if (std::ranges::find(kind.asks, "on", &Entry::key) == kind.asks.end())
      fail("the drill computes nothing: give it a line on: with a command such as attn walk --scores '{{s}}'");
    if (!kind.solution) fail("the drill has no solution: give it a line solution: --explain 'weights[1,2]'");
  });
  return kind;
}

std::string trains_of(const Document& document) {
  std::string trains;
  for (const Entry& entry : document.front_matter) {
    if (entry.key != "trains") fail_at(document.at(entry.line), "unknown key '{}': a drill has trains:", entry.key);
    trains = entry.value;
  }
  if (trains.empty())
    fail_at(document.at(1), "the drill does not say what it trains: begin the file with ---, trains: …, ---");
  return trains;
}

const std::vector<FencedBlock>& blocks_of_drill(const Document& document) {
  const std::size_t count = document.drills.size();
  if (count == 0) fail("{} has no block of drill: begin one with a line ```drill", document.path);
  if (count > most_kinds) fail("{} has {} blocks of drill: a drill has at most {}", document.path, count, most_kinds);
  return document.drills;
}

Drill built_in_drill(const DrillFile& file) {
  Drill drill = read_drill(file.text, std::string(file.path));
  drill.name = file.name;
  drill.is_built_in = true;
  drill.folder.reset();
  return drill;
}

// Draws until what is to be kept is so.
DrawnNames drawn_names(const ProblemKind& kind, Draws& draws) {
  constexpr int most_attempts = 1000;
  Place place = kind.place;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    DrawnNames names;
    const bool keeps = std::ranges::all_of(kind.draws, [&](const Entry& line) {
      place.line = line.line;
      return at_place(place, [&] {
        if (line.key == "keep") return names.is_so(line.value);
        if (line.key == "draw") names.draw(line.value, draws);
        if (line.key == "about") names.draw_kind(line.value, draws);
        if (line.key == "let") names.work_out(line.value);
        return true;
      });
    });
    if (keeps) return names;
  }
  fail_at(place, "keep: this was not so in {} draws: draw numbers of which more are kept", most_attempts);
}

Entry filled(const Entry& entry, const DrawnNames& names, const Place& block) {
  return {entry.key, at_place({block.path, entry.line}, [&] { return names.filled(entry.value); }), entry.line};
}

GivenMatrices given_of(const Entry& entry) {
  constexpr std::string_view arrow = "=>";
  const std::size_t at = entry.value.find(arrow);
  if (at == std::string::npos) return {entry.value};
  return {std::string(trimmed(std::string_view(entry.value).substr(0, at))),
          std::string(trimmed(std::string_view(entry.value).substr(at + arrow.size())))};
}

DrillProblem problem_of(const ProblemKind& kind, const DrawnNames& names) {
  std::vector<Entry> asks;
  for (const Entry& entry : kind.asks) asks.push_back(filled(entry, names, kind.place));
  DrillProblem problem{question_of(asks, kind.place), {}, filled(*kind.solution, names, kind.place).value};
  problem.question.on = command_or_options(problem.question.on);
  for (const Entry& entry : kind.given) problem.given.push_back(given_of(filled(entry, names, kind.place)));
  return problem;
}

// --- check

constexpr std::size_t draws_of_check = 40, fewest_problems = 5;

// The faults of one kind of problem: each once, with how many draws have it.
class Check {
 public:
  Check(const std::shared_ptr<const Drill>& drill, const ProblemKind& kind, const RunCommand& run)
      : drill_(drill), kind_(kind), run_(run), found_{.place = kind.place} {}

  CheckedDrill::Kind run(std::vector<std::string>& faults) {
    if (std::ranges::find(kind_.asks, "hint", &Entry::key) == kind_.asks.end())
      note(kind_.place.line, "the drill has no hint: give it a line hint:");
    const DocumentSandbox guest(drill_->folder);
    for (std::uint32_t seed = 1; seed <= draws_of_check; ++seed) draw(seed);
    found_.problems = problems_.size();
    found_.answers = answers_.size();
    if (found_.unsolved > draws_of_check / 2) faults_.try_emplace(kind_.place.line, Fault{unsolved_, found_.unsolved});
    if (faults_.empty()) check_variety();
    for (auto& [line, fault] : faults_) {
      if (fault.count > 0 && fault.count < draws_of_check)
        fault.says += fmt::format(" (in {} of {} draws)", fault.count, draws_of_check);
      faults.push_back(fault.says);
    }
    return found_;
  }

 private:
  struct Fault {
    std::string says;
    std::size_t count = 0;  // of draws; 0: of all
  };

  void note(std::size_t line, std::string_view says) {
    faults_.try_emplace(line, Fault{fmt::format("{}:{}: {}", kind_.place.path, line, says)});
  }

  // Runs a part of a problem; whether it could be. The first complaint about a line is told.
  bool can(std::size_t line, const std::function<void()>& part) {
    try {
      part();
      return true;
    } catch (const InputError& error) {
      const std::string_view what = error.what();
      const bool has_place = what.starts_with(kind_.place.path + ":");
      const auto [fault, is_new] = faults_.try_emplace(line, Fault{});
      if (is_new) fault->second.says = has_place ? what : fmt::format("{}:{}: {}", kind_.place.path, line, what);
      ++fault->second.count;
      return false;
    }
  }

  void draw(std::uint32_t seed) {
    Draws draws{seed, 0};
    std::optional<DrawnNames> names;
    if (!can(0, [&] { names = drawn_names(kind_, draws); })) return;  // which says its line itself
    bool all = true;
    const auto fills = [&](const Entry& entry) {
      if (!can(entry.line, [&] { filled(entry, *names, kind_.place); })) all = false;
    };
    std::ranges::for_each(kind_.asks, fills);
    std::ranges::for_each(kind_.given, fills);
    fills(*kind_.solution);
    DrawnProblem drawn{drill_, seed, {}, {}};
    if (!all || !can(kind_.place.line, [&] { drawn.problem = problem_of(kind_, *names); })) return;
    try {
      drawn.solved = solve_alone(drawn.problem.question, run_);
    } catch (const InputError& error) {  // such numbers are drawn again, but should be few
      unsolved_ = error.what();
      ++found_.unsolved;
      return;
    }
    for (std::size_t i = 0; i < kind_.given.size(); ++i)
      can(kind_.given[i].line,
          [&] { result_of_command(command_for(drawn.problem.given[i], drawn.problem.question), drawn, run_); });
    can(kind_.solution->line, [&] { result_of_command(command_of_solution(drawn.problem), drawn, run_); });
    problems_.insert(drawn.problem.question.on + drawn.problem.question.ask);
    answers_.insert(answer_of(drawn.solved));
  }

  void check_variety() {
    if (problems_.size() < fewest_problems)
      note(kind_.place.line, fmt::format("{} draws give only {}: draw more numbers", draws_of_check,
                                         count_of(problems_.size(), "different problem")));
    else if (answers_.size() == 1)
      note(kind_.place.line,
           fmt::format("the answer is always {}: ask for something that what is drawn changes", *answers_.begin()));
  }

  const std::shared_ptr<const Drill>& drill_;
  const ProblemKind& kind_;
  const RunCommand& run_;
  CheckedDrill::Kind found_;
  std::map<std::size_t, Fault> faults_;  // by line
  std::set<std::string> problems_, answers_;
  std::string unsolved_;  // why the last problem without an answer has none
};

}  // namespace

// --- drill

Drill read_drill(std::string_view text, const std::string& path) {
  const Document document = read_document(text, path);
  Drill drill{path, trains_of(document), {}, false, document.folder};
  for (const FencedBlock& block : blocks_of_drill(document)) drill.kinds.push_back(read_kind(document, block));
  return drill;
}

Drill find_drill(const std::string& word) {
  if (word.ends_with(".md")) return read_drill(read_bytes(word), word);
  return built_in_drill(look_up(drill_files(), word, "drill"));
}

std::vector<Drill> built_in_drills() {
  std::vector<Drill> drills;
  for (const DrillFile& file : drill_files()) drills.push_back(built_in_drill(file));
  return drills;
}

DrillProblem draw_problem(const Drill& drill, Draws& draws) {
  std::size_t count = 0;
  for (const ProblemKind& kind : drill.kinds) count += kind.often;
  std::size_t drawn = drill.kinds.size() == 1 ? 0 : draws.kind(count);
  auto kind = drill.kinds.begin();
  while (drawn >= kind->often) drawn -= (kind++)->often;
  return problem_of(*kind, drawn_names(*kind, draws));
}

// --- check

CheckedDrill check_drill(std::string_view text, const std::string& path, const RunCommand& run) {
  CheckedDrill checked{.drawn = draws_of_check};
  const auto noting = [&](const auto& part) {
    try {
      part();
    } catch (const InputError& error) {
      checked.faults.emplace_back(error.what());
    }
  };
  noting([&] {
    const Document document = read_document(text, path);
    Drill read{path, "", {}, false, document.folder};
    noting([&] { read.trains = trains_of(document); });
    for (const FencedBlock& block : blocks_of_drill(document))
      noting([&] { read.kinds.push_back(read_kind(document, block)); });
    const auto drill = std::make_shared<const Drill>(std::move(read));
    for (const ProblemKind& kind : drill->kinds) checked.kinds.push_back(Check(drill, kind, run).run(checked.faults));
  });
  return checked;
}

}  // namespace attn
