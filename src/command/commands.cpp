#include <algorithm>
#include <array>

#include "command/command_lists.hpp"
#include "command/parameter_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const Option state = {"--state", "FILE", "keep the progress there (~/.local/state/attn/lessons.json)"};
const Option no_input = {"--no-input", "", "print all of a lesson at once, with the answers"};
const Option answers = {"--answers", "FILE",
                        "answer from a file, one answer in a line; exit code 1 for a wrong one"};
const Option step = {"--step", "N", "begin at this step"};
const Option yes = {"--yes", "", "reset without asking"};
const Option key = {"--key", "NAME", "which matrix, when the file holds several"};

std::vector<Command> make_commands() {
  std::vector<Command> commands = attention_commands();
  std::ranges::move(model_commands(), std::back_inserter(commands));
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
                      .options = {state, no_input, answers, step, yes},
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
    Option{"--parameters", "FILE", "w_q … b_o: safetensors, npz or JSON; PyTorch's nn.MultiheadAttention"},
    prefix_option,
};

constexpr std::array output_table = {
    Option{"--format", "NAME", "one of the formats listed below (text)"},
    Option{"--output", "FILE", "-o FILE: write there, the format chosen by the ending"},
    Option{"--precision", "N", "most decimals that are shown (4)"},
    Option{"--width", "N", "columns of the terminal; large matrices are shortened to fit"},
    Option{"--full", "", "leave nothing out"},
    Option{"--section", "NAME", "only what stands under the headings that begin so; several with |"},
    Option{"--ascii", "", "no signs beyond ASCII of our own"},
    Option{"--color", "WHEN", "use colors: always, never or auto (default: auto)"},
    Option{"--theme", "NAME", "background of the terminal: dark, light or auto (default: auto)"},
    Option{"--no-pager", "", "do not pause after each screen"},
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
  return {"--only", "PATTERN", "only the matrices whose names match: weights, 'head.2.*', '*.q'"};
}

Option depth_option() {
  return {"--depth", "N", "follow the terms N steps back, down to inputs and parameters (0)"};
}

Option outline_option() {
  return {"--outline", "", "one picture, and the tree of matrices with shapes and costs"};
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
