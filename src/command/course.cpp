#include "command/course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>

#include "command/app.hpp"
#include "command/command.hpp"
#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "school/drill/drill.hpp"
#include "school/drill/sheet.hpp"
#include "school/lesson/marking.hpp"
#include "school/lesson/printed.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/session.hpp"
#include "school/puzzle/trial.hpp"

namespace attn {

// --- course

// Where the XDG Base Directory Specification puts state.
std::optional<std::string> state_file(const Arguments& arguments) {
  if (std::optional<std::string> given = arguments.text(option::state)) return given;
  constexpr std::string_view name = "attn/lessons.json";
  const std::string state = arguments.environment->variable(variable::xdg_state_home.name).value_or("");
  if (state.starts_with('/')) return (std::filesystem::path(state) / name).string();
  const std::string home = arguments.environment->variable(variable::home.name).value_or("");
  if (!home.starts_with('/')) return std::nullopt;  // another one in each folder
  return (std::filesystem::path(home) / ".local/state" / name).string();
}

namespace {

// As other warnings are written: without a capital and a full stop.
std::string as_warning(const Text& sentence) {
  std::string words;
  for (const Span& span : sentence) words += span.text;
  if (words.ends_with('.')) words.pop_back();
  words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

}  // namespace

Answer page_of(std::vector<Block> blocks) {
  Answer answer;
  answer.page.blocks = std::move(blocks);
  return answer;
}

Verdict verdict_on(std::span<const MarkedHandIn> marks) {
  return std::ranges::all_of(marks, &MarkedHandIn::is_good) ? Verdict::passed : Verdict::failed;
}

std::string state_to_write(const Arguments& arguments) {
  if (std::optional<std::string> state = state_file(arguments)) return *state;
  fail("there is no folder for your progress: give --state FILE, or set HOME");
}

ProgressFile progress_so_far(const Arguments& arguments) {
  const std::optional<std::string> state = state_file(arguments);
  return state ? read_progress(*state) : ProgressFile{};
}

Afterwards changing_progress(const Arguments& arguments, std::function<void(CourseProgress& progress)> change) {
  const std::optional<std::string> state = state_file(arguments);
  if (!state) return {};
  return [state = *state, change = std::move(change)](Terminal& terminal) {
    std::vector<std::string> warnings;
    const auto tell = [&](const Text& sentence) { warnings.push_back(as_warning(sentence)); };
    try {
      KeptProgress(terminal, state, tell).change(change);
    } catch (const InputError& error) {  // what was asked for is done
      warnings.emplace_back(error.what());
    }
    return warnings;
  };
}

// A session makes room for another file; a page can only say what it has found.
Answer with_warning(Answer answer, const ProgressFile& file, const Arguments& arguments) {
  if (file.is_damaged && !answer.session)
    answer.warnings.push_back(
        fmt::format("the file of your progress, {}, is damaged, and is shown as no progress. "
                    "When you take a lesson, it gets another name",
                    state_to_write(arguments)));
  return answer;
}

bool at_terminal(const Arguments& arguments) {
  const Environment& environment = *arguments.environment;
  const bool as_page =
      arguments.has(option::no_input) || arguments.has(option::output) || arguments.has(option::format);
  return environment.input_is_terminal && environment.output_is_terminal && !as_page;
}

Answer interactive(const Arguments& arguments, std::function<void(LessonTerminal& terminal)> action) {
  Answer answer;
  answer.session = [action = std::move(action), state = state_to_write(arguments),
                    inside = arguments.environment->inner()](Terminal& terminal, const Style& style) {
    LessonTerminal lesson_terminal(terminal, style, state);
    lesson_terminal.runs_with([&inside](const std::vector<std::string>& words, Terminal& at, const Style& in) {
      const AnswerInFormat here = attn::answer(words, inside);
      if (!here.session) fail("attn {} has no screen of its own", words.front());
      here.session(at, in);
    });
    action(lesson_terminal);
  };
  return answer;
}

void refuse_idle(const Command& command, const std::string& typed, std::span<const Option* const> taken,
                 const Arguments& arguments) {
  for (const Action& other : command.actions) {
    for (const Option* option : other.options) {
      if (!arguments.has(*option) || std::ranges::find(taken, option) != taken.end()) continue;
      std::vector<std::string> takers;
      for (const Action& action : command.actions) {
        if (std::ranges::find(action.options, option) != action.options.end())
          takers.push_back(fmt::format("attn {} {}", command.name, action.name));
      }
      fail("{} takes no {}: {} {:takes|take} it", typed, option->name, listed(takers), Count{takers.size()});
    }
  }
}

Answer run_action(const Command& command, const Action& action, const Arguments& arguments) {
  const std::string typed = fmt::format("attn {} {}", command.name, action.name);
  const std::size_t count = arguments.words.size() - 1;
  if (count < least_count(action.words) || count > most_count(action.words))
    fail("{} is written: {}{}{}", typed, typed, action.words.empty() ? "" : " ", written(action.words));
  refuse_idle(command, typed, action.options, arguments);
  return action.run(arguments);
}

void refuse_to_replace(const std::string& path, const Arguments& arguments) {
  if (is_there(path) && !arguments.has(option::yes))
    fail("{} is there already: give another file, or --yes to replace it", path);
}

Block printed_markdown(const std::string& markdown) {
  return CodeBlock{"markdown", std::string(without_ending(markdown))};
}

Answer begin_document(std::string_view what, const std::function<std::string(const std::string& path)>& document,
                      const std::array<std::string_view, 2>& commands, const Arguments& arguments) {
  const bool is_written = arguments.words.size() > 1;
  const std::string path = is_written ? arguments.words[1] : "new.md";
  if (!path.ends_with(".md")) fail("{}: {} is Markdown: give a name that ends in .md", path, what);
  const std::string markdown = document(path);
  if (!is_written) return page_of({printed_markdown(markdown)});
  refuse_to_replace(path, arguments);
  Answer answer =
      page_of({Prose{text(path, " is written. Find mistakes in it with ", code(fmt::format("{} {}", commands[0], path)),
                          ", and take it with ", code(fmt::format("{} {}", commands[1], path)), ".")}});
  answer.files.push_back({path, markdown});
  return answer;
}

// --- drill

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
  return "Drill: " + listed(names);
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
  page.say(Folded{"Answer", std::move(answer)});
}

// The problems as a table for programs and spreadsheets.
Records records_of_problems(const std::vector<DrawnProblem>& problems, bool with_answers) {
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
           {{"FILE", Word::Count::optional, Kind::path}},
           begin_drill,
           {&option::yes}},
    Action{"check", "check drills that you write", {{"FILE", Word::Count::some, Kind::path}}, check_drills},
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
  answer.page.say(records_of_problems(problems, arguments.has(option::with_answers)));
  return answer;
}

// --- puzzle

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
  const Trial trial = tried(puzzle, std::move(settings), block_runner());
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
  const Trial trial = tried(puzzle, settings_at_start(puzzle), block_runner());
  std::vector<Block> blocks = opening_of(puzzle, page_level);
  std::ranges::move(numbers_of(puzzle, trial), std::back_inserter(blocks));
  std::string command = "attn puzzle " + word;
  for (const Unknown& unknown : puzzle.unknowns)
    command += fmt::format(" --set '{} = {}'", unknown.name(), typed(unknown.start));
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
    play(*puzzle, block_runner(), {terminal, puzzle_keys(), ""},
         [&] { terminal.change([&](CourseProgress& progress) { mark_solved(*puzzle, progress); }); });
  });
}

}  // namespace attn
