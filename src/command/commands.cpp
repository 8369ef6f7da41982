#include <algorithm>
#include <array>

#include "command/command_lists.hpp"
#include "command/parameter_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const Option state = {"--state", "FILE", "file of the progress (default ~/.local/state/attn/lessons.json)"};
const Option no_input = {"--no-input", "", "print the whole lesson at once, with the answers"};
const Option answers = {"--answers", "FILE",
                        "read the answers from a file, one on each line; exit code 1 if one is wrong"};
const Option step = {"--step", "N", "begin at this step"};
const Option yes = {"--yes", "", "reset without asking"};
const Option key = {"--key", "NAME", "name of the matrix, if the file has several"};

std::vector<Command> make_commands() {
  std::vector<Command> commands = attention_commands();
  std::ranges::move(model_commands(), std::back_inserter(commands));
  commands.push_back({.name = "examples",
                      .summary = "list the built-in examples, or describe one",
                      .words = "[NAME]",
                      .most_words = 1,
                      .examples = {"attn examples", "attn examples animal"},
                      .run = run_examples});
  commands.push_back({.name = "convert",
                      .summary = "convert a matrix file to another format",
                      .words = "SRC DST",
                      .least_words = 2,
                      .most_words = 2,
                      .options = {key},
                      .examples = {"attn convert scores.csv scores.npy",
                                   "attn convert trace.npz weights.csv --key head.1.weights"},
                      .run = run_convert});
  commands.push_back(
      {.name = "lesson",
       .summary = "interactive lessons: list, run, next, review, show, reset, export; for authors: new, "
                  "check, coverage",
       .words = "[ACTION] [LESSON]",
       .most_words = 1000,
       .options = {state, no_input, answers, step, yes},
       .examples = {"attn lesson list", "attn lesson run 1", "attn lesson check my-lesson.md"},
       .run = run_lesson});
  commands.push_back({.name = "docs",
                      .summary = "keep command output in Markdown files up to date: update, check, clean",
                      .words = "ACTION FILE...",
                      .least_words = 2,
                      .most_words = 1000,
                      .examples = {"attn docs update README.md", "attn docs check README.md docs/*.md"},
                      .run = run_docs});
  commands.push_back({.name = "help",
                      .summary = "this text, or help for one command",
                      .words = "[COMMAND]",
                      .most_words = 1,
                      .examples = {"attn help walk", "attn help explain"},
                      .run = run_help});
  commands.push_back({.name = "version",
                      .summary = "version of the program",
                      .examples = {"attn version"},
                      .run = run_version});
  return commands;
}

constexpr std::array problem_table = {
    Option{"--example", "NAME",
           "a built-in example; the options below change it (default thinking-machines)"},
    Option{"--problem", "FILE", "a JSON file with any of the fields below, or output of --format json"},
    Option{"--parameters", "FILE",
           "w_q … b_o from a safetensors, npz or JSON file; also PyTorch's nn.MultiheadAttention"},
    prefix_option,
};

constexpr std::array output_table = {
    Option{"--format", "NAME", "one of the formats listed below (default text)"},
    Option{"--output", "FILE", "-o FILE: write to this file; its ending chooses the format"},
    Option{"--precision", "N", "maximum number of decimals (default 4)"},
    Option{"--width", "N", "width of the output in columns; large matrices are shortened to fit"},
    Option{"--full", "", "show all rows and columns"},
    Option{"--section", "NAME", "show only sections whose heading begins with NAME; separate several with |"},
    Option{"--ascii", "", "use only ASCII characters in tables and symbols"},
    Option{"--color", "WHEN", "use colors: always, never or auto (default auto)"},
    Option{"--theme", "NAME", "background of the terminal: dark, light or auto (default auto)"},
    Option{"--no-pager", "", "do not pause after each screen"},
    Option{"--threads", "N", "number of threads for large matrices (default: one for each processor)"},
    Option{"-h", "", "show the options of this command"},
    Option{"--help", "", "show all options, also those that many commands share"},
};

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

bool heeds(const Command& command, const Field& field) {
  return command.heeds.empty() || std::ranges::find(command.heeds, field.name) != command.heeds.end();
}

Option only_option() {
  return {"--only", "PATTERN",
          "show only matrices whose names match; separate several with |: 'weights|head.2.*'"};
}

Option depth_option() {
  return {"--depth", "N", "explain the terms too, N steps back towards inputs and parameters (default 0)"};
}

Option outline_option() {
  return {"--outline", "", "a diagram, and the tree of matrices with shapes and costs"};
}

std::span<const std::string_view> fields_of_embeddings() {
  static constexpr std::string_view names[] = {"text",   "embeddings", "d_model", "seed",
                                               "random", "tokens",     "x"};
  return names;
}

std::span<const Option> problem_options() {
  return problem_table;
}

std::span<const Option> output_options() {
  return output_table;
}

}  // namespace attn
