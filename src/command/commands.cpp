#include <algorithm>

#include "command/command.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

std::vector<Command> make_commands() {
  std::vector<Command> commands = attention_commands();
  std::ranges::move(model_commands(), std::back_inserter(commands));
  commands.push_back({.name = "examples",
                      .summary = "list the built-in examples, or describe one",
                      .words = "[NAME]",
                      .most_words = 1,
                      .examples = {"attn examples", "attn examples animal"},
                      .run = run_examples});
  commands.push_back({.name = "show",
                      .summary = "show the matrices in a file that attn wrote: JSON, npz or safetensors",
                      .words = "FILE",
                      .least_words = 1,
                      .most_words = 1,
                      .own = {{option::only}},
                      .examples = {"attn show trace.json", "attn show trace.npz --only weights"},
                      .run = run_show});
  commands.push_back({.name = "convert",
                      .summary = "convert a matrix file to another format",
                      .words = "SRC DST",
                      .least_words = 2,
                      .most_words = 2,
                      .own = {{option::key}},
                      .examples = {"attn convert scores.csv scores.npy",
                                   "attn convert trace.npz weights.csv --key head.1.weights"},
                      .run = run_convert});
  commands.push_back(
      {.name = "lesson",
       .summary = "interactive lessons: list, run, next, review, show, reset, export; for authors: new, "
                  "check, coverage",
       .words = "[ACTION] [LESSON]",
       .most_words = 1000,
       .own = {{option::state, option::no_input, option::answers, option::step, option::yes}},
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

}  // namespace

bool Command::takes_problem() const {
  return std::ranges::find(groups, &problem_options()) != groups.end();
}

bool Command::takes_model() const {
  return !takes_problem() && std::ranges::any_of(options_of(*this), [](const Offered& row) {
    return row.option == &option::problem;
  });
}

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

std::vector<Offered> options_of(const Command& command) {
  std::vector<Offered> all = command.own.options;
  const auto append = [&](const OptionGroup& group) {
    // What a command says of an option goes before what a group says of it.
    std::ranges::copy_if(group.options, std::back_inserter(all), [&](const Offered& row) {
      return std::ranges::find(command.own.options, row.option, &Offered::option) ==
             command.own.options.end();
    });
  };
  append(output_options());
  for (const OptionGroup* group : command.groups) append(*group);
  return all;
}

}  // namespace attn
