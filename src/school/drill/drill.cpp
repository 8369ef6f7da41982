#include "school/drill/drill.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

// --- drill

namespace {

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

Given given_of(const Entry& entry) {
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

}  // namespace

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

// --- series

namespace {

CommandResult result_of_command(const std::string& command, const DrawnProblem& drawn, const RunCommand& run) {
  const Place& place = drawn.problem.question.place;
  return run_alone(command_lines(command, place.path, place.line).front().words, run);
}

std::string command_of_solution(const DrillProblem& problem) { return problem.question.on + " " + problem.solution; }

std::string command_for(const Given& given, const Question& question) {
  const std::string& command = given.command.empty() ? question.on : given.command;
  return fmt::format("{} --only '{}'", command, given.only);
}

}  // namespace

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
  for (const Given& given : drawn->problem.given)
    note_tables(result_of_command(command_for(given, drawn->problem.question), *drawn, run_).page->blocks, shown);
  drawn->solved.shown = std::make_shared<const MatricesShown>(std::move(shown));
  return std::move(*drawn);
}

// How badly a problem serves: whether none of the mistakes it is drawn for shows in it, and how many mistakes have the
// correct answer.
std::pair<bool, std::size_t> DrillSeries::faults_of(const SolvedQuestion& solved) const {
  const auto shows = [&](const Recognised& one) {
    return std::ranges::find(mistakes_, one.mistake) != mistakes_.end();
  };
  const bool shows_none = !mistakes_.empty() && std::ranges::none_of(recognisable(solved), shows);
  return {shows_none, cannot_be_told_apart(solved).size()};
}

DrawnProblem DrillSeries::draw(const std::shared_ptr<const Drill>& drill, std::uint32_t seed) const {
  constexpr std::uint32_t most_draws = 100, patience = 4;
  std::optional<DrawnProblem> best;
  const PerhapsGuest guest(!drill->is_built_in, drill->folder);
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
  const PerhapsGuest guest(!drawn.drill->is_built_in, drawn.drill->folder);
  const Question& question = drawn.problem.question;
  std::vector<Block> blocks;
  SideBySide matrices;
  for (const Given& given : drawn.problem.given) {
    for (Table& table : tables_of(result_of_command(command_for(given, question), drawn, run).page->blocks))
      matrices.tables.push_back(std::move(table));
  }
  if (!matrices.tables.empty()) blocks.emplace_back(std::move(matrices));
  blocks.push_back(shown(question));
  return blocks;
}

namespace {

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

}  // namespace

std::string given_numbers(const DrawnProblem& drawn, const RunCommand& run) {
  const PerhapsGuest guest(!drawn.drill->is_built_in, drawn.drill->folder);
  std::vector<std::string> matrices;
  for (const Given& given : drawn.problem.given) {
    const CommandResult result = result_of_command(command_for(given, drawn.problem.question), drawn, run);
    for (const Table& table : tables_of(result.page->blocks)) matrices.push_back(on_one_line(table));
  }
  return fmt::format("{}", fmt::join(matrices, ", "));
}

std::vector<Block> solution_of(const DrawnProblem& drawn, const RunCommand& run) {
  const PerhapsGuest guest(!drawn.drill->is_built_in, drawn.drill->folder);
  const std::string command = command_of_solution(drawn.problem);
  return {CodeBlock{"console", "$ " + command}, output_of(result_of_command(command, drawn, run))};
}

// --- check

namespace {

constexpr std::size_t draws_of_check = 40, fewest_problems = 5;

// The faults of one kind of problem: each once, with how many draws have it.
class Check {
 public:
  Check(const std::shared_ptr<const Drill>& drill, const ProblemKind& kind, const RunCommand& run)
      : drill_(drill), kind_(kind), run_(run), found_{.place = kind.place} {}

  CheckedDrill::Kind run(std::vector<std::string>& faults) {
    if (std::ranges::find(kind_.asks, "hint", &Entry::key) == kind_.asks.end())
      note(kind_.place.line, "the drill has no hint: give it a line hint:");
    const Guest guest(drill_->folder);
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

// --- session

namespace {

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
    const AnswerKept kept{[&](const std::string&, bool right) { missed = missed || !right; }, [&] { missed = true; }};
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

void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation, std::vector<Block> begin) {
  conversation.show(std::move(begin));
  DrillSession(std::move(series), run, conversation).take();
}

}  // namespace attn
