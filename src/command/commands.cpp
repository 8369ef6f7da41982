#include <algorithm>
#include <array>
#include <charconv>

#include "attention/steps.hpp"
#include "command/command.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const Option only = {"--only", "PATTERN", "only the matrices whose names match: weights, 'head.2.*', '*.q'"};
const Option by_word = {"--by-word", "WORD", "follow one word's query through the six steps, with vectors"};
const Option depth = {"--depth", "N", "follow the terms N steps back, down to inputs and parameters (0)"};
const Option state = {"--state", "FILE", "keep the progress there (~/.local/state/attn/lessons.json)"};
const Option no_input = {"--no-input", "", "print all of a lesson at once, with the answers"};
const Option answers = {"--answers", "FILE",
                        "answer from a file, one answer in a line; exit code 1 for a wrong one"};
const Option key = {"--key", "NAME", "which matrix, when the file holds several"};

struct StepExamples {
  std::string_view step;
  std::vector<std::string_view> lines;
};

const std::vector<StepExamples> step_examples = {
    {"project", {"attn project", "attn project --x '1 0; 0 1' --wq '[[1,2],[3,4]]'"}},
    {"scores", {"attn scores", "attn scores --q q.csv --k k.csv"}},
    {"scale", {"attn scale --scale 8", "attn scale --scores '112 96' --scale 8"}},
    {"mask", {"attn mask --causal", "attn mask --scores s.csv --mask '[[1,0],[1,1]]'"}},
    {"softmax", {"attn softmax --scores '14 12'", "attn softmax --scores s.csv --format csv"}},
    {"weigh", {"attn weigh", "attn weigh --weights '0.9 0.1' --v '1 0; 0 1'"}},
    {"heads", {"attn heads --example animal", "attn heads --q q.npy --k k.npy --v v.npy --heads 4"}},
    {"concat", {"attn concat --example animal", "attn concat --text 'two heads' --heads 2"}},
};

// Every step has a command of its own name.
void add_steps(std::vector<Command>& commands) {
  for (const Step& step : steps()) {
    const auto found = std::ranges::find(step_examples, step.name, &StepExamples::step);
    commands.push_back(
        {.name = step.name,
         .summary = step.summary,
         .takes_problem = true,
         .options = {only},
         .examples = found == step_examples.end() ? std::vector<std::string_view>{} : found->lines,
         .run = run_step});
  }
}

std::vector<Command> make_commands() {
  std::vector<Command> commands;
  commands.push_back(
      {.name = "walk",
       .summary = "all steps of attention in order",
       .takes_problem = true,
       .options = {only, by_word},
       .examples = {"attn walk", "attn walk --by-word Thinking",
                    "attn walk --text 'Every word looks at every word' --heads 2",
                    "attn walk --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --causal -o walk.md"},
       .run = run_walk});
  add_steps(commands);
  commands.push_back({.name = "explain",
                      .summary = "one number, down to its last multiplication",
                      .words = "CELL",
                      .least_words = 1,
                      .most_words = 1,
                      .takes_problem = true,
                      .options = {depth},
                      .examples = {"attn explain 'weights[1,2]' --depth 3",
                                   "attn explain 'head.2.weights[it,animal]' --example animal"},
                      .run = run_explain});
  commands.push_back(
      {.name = "compare-scores",
       .summary = "all scoring functions on the same queries and keys",
       .takes_problem = true,
       .examples = {"attn compare-scores", "attn compare-scores --q '1 0; 0 2' --k '1 1; 0 1; 2 0'"},
       .run = run_compare_scores});
  commands.push_back({.name = "examples",
                      .summary = "the examples that are built in",
                      .words = "[NAME]",
                      .most_words = 1,
                      .examples = {"attn examples", "attn examples animal"},
                      .run = run_examples});
  commands.push_back({.name = "convert",
                      .summary = "one matrix file into another kind",
                      .words = "SRC DST",
                      .least_words = 2,
                      .most_words = 2,
                      .options = {key},
                      .examples = {"attn convert scores.csv scores.npy",
                                   "attn convert trace.npz weights.csv --key head.1.weights"},
                      .run = run_convert});
  commands.push_back({.name = "lesson",
                      .summary = "lessons to take step by step: list, show, run, reset, export; for authors: "
                                 "new, check, coverage",
                      .words = "[ACTION] [LESSON]",
                      .most_words = 1000,
                      .options = {state, no_input, answers},
                      .examples = {"attn lesson list", "attn lesson run 1", "attn lesson check my-lesson.md"},
                      .run = run_lesson});
  commands.push_back({.name = "docs",
                      .summary = "the output of commands in Markdown files: update, check, clean",
                      .words = "ACTION FILE...",
                      .least_words = 2,
                      .most_words = 1000,
                      .examples = {"attn docs update README.md", "attn docs check README.md docs/*.md"},
                      .run = run_docs});
  commands.push_back({.name = "help",
                      .summary = "this text, or the help of a command",
                      .words = "[COMMAND]",
                      .most_words = 1,
                      .examples = {"attn help walk", "attn help explain"},
                      .run = run_help});
  commands.push_back({.name = "version",
                      .summary = "which version this is",
                      .examples = {"attn version"},
                      .run = run_version});
  return commands;
}

constexpr std::array problem_table = {
    Option{"--example", "NAME", "a built-in example; the options below change it (thinking-machines)"},
    Option{"--problem", "FILE", "a JSON file with any of the fields below, or what --format json wrote"},
};

constexpr std::array output_table = {
    Option{"--format", "NAME", "one of the formats listed below (text)"},
    Option{"--output", "FILE", "-o FILE: write there, the format chosen by the ending"},
    Option{"--precision", "N", "most decimals that are shown (4)"},
    Option{"--width", "N", "columns of the terminal; large matrices are shortened to fit"},
    Option{"--full", "", "leave nothing out"},
    Option{"--ascii", "", "no signs beyond ASCII of our own"},
    Option{"--color", "WHEN", "always, never or auto"},
    Option{"--help", "", "-h: this text"},
};

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

std::span<const Option> problem_options() {
  return problem_table;
}

std::span<const Option> output_options() {
  return output_table;
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = options.find(option);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Arguments::count(std::string_view option, std::size_t least,
                                            std::size_t most) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error != std::errc() || end != given->data() + given->size() || value < least || value > most) {
    fail("--{}: '{}' is not a whole number from {} to {}", option, *given, least, most);
  }
  return value;
}

}  // namespace attn
