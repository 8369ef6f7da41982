#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command/annex.hpp"
#include "command/command.hpp"
#include "command/form.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

constexpr std::size_t most_repeated = 1000;

std::vector<Command> make_commands() {
  std::vector<Command> commands = attention_commands();
  std::ranges::move(model_commands(), std::back_inserter(commands));
  std::ranges::move(train_commands(), std::back_inserter(commands));
  for (const Annex* annex : annexes()) std::ranges::move(annex->commands(), std::back_inserter(commands));
  // clang-format off
  const std::vector<Command> others = {
      {.name = "examples",   .subject = &subject::teaching,
       .summary = "list the built-in examples and models, or describe one",
       .words = {{"NAME", PositionalArgument::Count::optional, Kind::word, choices::built_in}},
       .examples = {"attn examples", "attn examples animal"}, .run = run_examples},
      {.name = "show",       .subject = &subject::files,
       .summary = "show the matrices in a file that attn wrote: JSON, npz or safetensors",
       .words = {{"FILE", PositionalArgument::Count::one, Kind::path}}, .own = {{option::only}},
       .examples = {"attn show trace.json", "attn show trace.npz --only weights"}, .run = run_show},
      {.name = "convert",    .subject = &subject::files,
       .summary = "convert a matrix file to another format",
       .words = {{"SRC", PositionalArgument::Count::one, Kind::path},
                 {"DST", PositionalArgument::Count::one, Kind::path}},
       .own = {{option::key}},
       .examples = {"attn convert scores.csv scores.npy", "attn convert trace.npz weights.csv --key head.1.weights"},
       .run = run_convert},
      {.name = "lesson",     .subject = &subject::teaching,
       .summary = "interactive lessons: list, run, next, review, show, reset, export; for teachers: class; for "
                  "authors: new, check, coverage",
       .words = {{"ACTION", PositionalArgument::Count::optional}, {"LESSON", PositionalArgument::Count::any}},
       .actions = lesson_actions(),
       .formats = lesson_formats(),
       .own = {.options = {option::state, option::no_input, option::answers, option::step, option::yes,
                           option::worksheet, option::with_answers,
                           {option::seed, "seed of the sheet that class draws"}},
               .exclusions = {{&option::answers, &option::step}, {&option::worksheet, &option::with_answers},
                              {&option::answers, &option::worksheet}, {&option::answers, &option::with_answers}}},
       .examples = {"attn lesson list", "attn lesson run 1", "attn lesson check my-lesson.md"}, .run = run_lesson},
      {.name = "puzzle",     .subject = &subject::teaching,
       .summary = "set numbers until attention does what is asked: look back, copy, reverse",
       .words = {{"PUZZLE", PositionalArgument::Count::optional, Kind::path, choices::puzzles}},
       .own = {{option::set,
                {option::answers,
                 "read what is set from a file, one NAME=… on each line; exit code 1 if it solves nothing"},
                option::state, {option::no_input, "print the puzzle, and ask nothing"}}},
       .examples = {"attn puzzle", "attn puzzle 1", "attn puzzle look-back --no-input"}, .run = run_puzzle},
      {.name = "drill",      .subject = &subject::teaching,
       .summary = "problems without end on one step, with hints and diagnoses; worksheets for a class; for authors: "
                  "new, check",
       .words = {{"DRILL", PositionalArgument::Count::any, Kind::path, choices::drills}}, .actions = drill_actions(),
       .own = {.options = {{option::seed, "seed of the problems", ": another one each time; of a sheet 1"},
                           option::problems, option::mistake, option::with_answers, option::answers,
                           {option::yes, "replace a file without asking"},
                           {option::no_input, "print a sheet of problems, at a terminal too"}},
               .exclusions = {{&option::answers, &option::with_answers}}},
       .examples = {"attn drill", "attn drill softmax", "attn drill softmax --seed 7 --count 10"}, .run = run_drill},
      {.name = "docs",       .subject = &subject::files,
       .summary = "keep command output in Markdown files up to date: update, check, clean, hook",
       .words = {{"ACTION"}, {"FILE", PositionalArgument::Count::any, Kind::path}}, .actions = docs_actions(),
       .own = {.options = {option::annotate},
               .exclusions = {{&option::annotate, &option::format,
                               "--annotate has lines of its own: leave out --format"}}},
       .examples = {"attn docs update README.md", "attn docs check README.md docs"}, .run = run_docs},
      {.name = "help",       .subject = &subject::program,
       .summary = "the list of commands, or help for one command",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::help}},
       .examples = {"attn help walk", "attn help explain"}, .run = run_help},
      {.name = "version",    .subject = &subject::program,
       .summary = option::version.summary,
       .examples = {"attn version"}, .run = run_version},
      {.name = "completion", .subject = &subject::program,
       .summary = "a script that completes command lines of attn in a shell",
       .words = {{"SHELL", PositionalArgument::Count::one, Kind::word, choices::shells}},
       .examples = {"attn completion bash", "attn completion fish"}, .run = run_completion},
      {.name = "complete",
       .summary = "the words that may come next in a command line",
       .words = {{"WORD", PositionalArgument::Count::any}}, .caller = Caller::programs,
       .examples = {"attn complete -- walk --format ''"}, .run = run_complete},
      {.name = "manual",
       .summary = "a manual page for man, of attn or of one command",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::help}},
       .caller = Caller::programs,
       .examples = {"attn manual", "attn manual walk"}, .run = run_manual},
  };
  // clang-format on
  commands.insert(commands.end(), others.begin(), others.end());
  return commands;
}

// The commands that take a group of options.
std::vector<OptionChoice> commands_with(const OptionGroup& group) {
  std::vector<OptionChoice> names;
  for (const Command& command : commands()) {
    if (std::ranges::find(command.groups, &group) != command.groups.end())
      names.push_back({command.name, command.summary});
  }
  return names;
}

}  // namespace

std::string usage_of_words(std::span<const PositionalArgument> words) {
  std::string text;
  for (const PositionalArgument& word : words) {
    if (!text.empty()) text += ' ';
    text += word.is_required() ? word.name : fmt::format("[{}]", word.name);
    if (word.may_repeat()) text += "...";
  }
  return text;
}

std::size_t least_count(std::span<const PositionalArgument> words) {
  return static_cast<std::size_t>(std::ranges::count_if(words, &PositionalArgument::is_required));
}

std::size_t most_count(std::span<const PositionalArgument> words) {
  return std::ranges::any_of(words, &PositionalArgument::may_repeat) ? most_repeated : words.size();
}

bool Command::uses(const Option& option) const {
  return (option.effect & shows) != 0 && std::ranges::find(idle, &option) == idle.end();
}

bool Command::needs_no_words(const Option& option) const {
  return std::ranges::find(wordless, &option) != wordless.end();
}

bool Command::takes_problem() const { return std::ranges::find(groups, &problem_options()) != groups.end(); }

bool Command::takes_model() const {
  return !takes_problem() && std::ranges::any_of(options_of(*this), [](const OfferedOption& row) {
    return row.option == &option::problem;
  });
}

std::vector<OptionChoice> choices::mapped() { return commands_with(weight_options()); }

// Those that offer it among their options.
std::vector<OptionChoice> choices::browser_pages() {
  std::vector<OptionChoice> names;
  for (const Command& command : commands()) {
    const std::vector<OfferedOption> offered = options_of(command);
    if (std::ranges::find(offered, &option::page, &OfferedOption::option) != offered.end())
      names.push_back({command.name, command.summary});
  }
  return names;
}

std::vector<OptionChoice> choices::with_gradients() { return commands_with(gradient_options()); }

std::vector<OptionChoice> choices::with_matrices() { return commands_with(matrix_options()); }

std::vector<OptionChoice> choices::checked() { return commands_with(comparison_options()); }

void refuse_other_word(const Command& command, const Arguments& arguments) {
  if (arguments.words.empty()) return;
  const std::string& word = arguments.words.front();
  const std::vector<OptionChoice> choices = command.words.back().choices();
  const std::vector<std::string> names = names_of(std::span(choices));
  if (std::ranges::find(names, word) != names.end()) {
    const std::string before = usage_of_words(std::span(command.words).first(command.words.size() - 1));
    fail("the command comes before the options: attn {}{}{} {}", command.name, before.empty() ? "" : " ", before, word);
  }
  const bool is_cell = word.ends_with(']') && !command.words.front().cell_of.empty();
  if (is_cell) fail("the cell comes before the command: attn {} '{}' COMMAND", command.name, word);
  if (find_row(commands(), word))
    fail("attn {} cannot be shown by attn {}. Choose one of: {}", word, command.name, fmt::join(names, ", "));
  fail_unknown("command", word, names);
}

const Option* flag_of(const Command& command, std::string_view word) {
  if (command.wordless.empty()) return nullptr;
  const auto is_it = [&](const OfferedOption& row) {
    return row.option->kind == Kind::flag && row.option->name == word;
  };
  const auto found = std::ranges::find_if(command.own.options, is_it);
  return found == command.own.options.end() ? nullptr : found->option;
}

ShownAs command_shown_as(const Command& command, std::span<const std::string> line) {
  if (!command.shown_as) return {};
  const std::span<const PositionalArgument> before = std::span(command.words).first(command.words.size() - 1);
  std::size_t least = least_count(before), count = 0;
  const std::vector<OptionChoice> choices = command.words.back().choices();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (const Option* const flag = flag_of(command, line[i])) {
      if (command.needs_no_words(*flag)) least = 0;
    } else if (count >= least && std::ranges::find(choices, line[i], &OptionChoice::name) != choices.end()) {
      return {find_row(commands(), line[i]), i};
    } else if ((line[i].size() > 1 && line[i].front() == '-') || count == most_count(before)) {
      return {};
    } else {
      ++count;
    }
  }
  return {};
}

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

std::vector<const Command*> commands_on(const Subject& subject) {
  std::vector<const Command*> found;
  for (const Command& command : commands()) {
    if (command.subject == &subject) found.push_back(&command);
  }
  return found;
}

std::vector<Exclusion> exclusions_of(const Command& command) {
  std::vector<Exclusion> all = command.own.exclusions;
  const auto add = [&](const std::vector<Exclusion>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(exclusions_of_forms());
  for (const OptionGroup* group : command.groups) add(group->exclusions);
  return all;
}

std::vector<OfferedOption> options_of(const Command& command) {
  std::vector<OfferedOption> all = command.own.options;
  const auto append = [&](const OptionGroup& group) {
    // What a command says of an option goes before what a group says of it.
    std::ranges::copy_if(group.options, std::back_inserter(all), [&](const OfferedOption& row) {
      return std::ranges::find(command.own.options, row.option, &OfferedOption::option) == command.own.options.end();
    });
  };
  append(output_options());
  for (const OptionGroup* group : command.groups) append(*group);
  return all;
}

}  // namespace attn
