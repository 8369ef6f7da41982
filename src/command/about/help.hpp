#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command/command.hpp"

namespace attn {

// What there is to tell of a command, before anyone decides how: help, manual pages and completions are made
// of it.

/// Names to choose from, and what each of them is.
struct ChoiceList {
  std::string title;
  std::vector<OptionChoice> choices;
  const Option* option = nullptr;  // whose they are; null: of all that take them
};

/// Options that stand together, and names that their values are chosen from.
struct OptionSection {
  std::string_view title;  // empty: they need none
  std::vector<OfferedOption> options;
  std::vector<ChoiceList> choices = {};
};

/// What holds for all commands: the variables that they read, their files and their exit codes.
struct ProgramFacts {
  std::vector<OptionChoice> variables, files, exit_codes;
};
ProgramFacts shared_facts();

/// The command lines that the program as a whole is shown with.
std::span<const std::string_view> general_examples();

/// "attn explain CELL".
std::string usage_of(const Command& command);
/// "review [LESSON]".
std::string usage_of(const Action& action);
/// "--heads N".
std::string usage_of(const OfferedOption& row);
/// "number of heads (default 1)".
std::string summary_in_help(const OfferedOption& row);
/// The names that the value of an option is chosen from, if each of them says what it is.
std::vector<OptionChoice> choices_in_help(const OfferedOption& row);

/// The options that are the command's own: those that do not describe a problem or say how a page is written.
OptionSection own_section(const Command& command);
/// The options of a problem that have an effect (an `Effect`) on what is shown.
std::vector<OptionSection> input_sections(const std::function<bool(const Option&)>& is_shown,
                                          std::string_view default_example);
/// The options that say how a page is written.
OptionSection output_section();
/// All of them: its own, those of a problem that have an effect on what it shows, and those of the output.
std::vector<OptionSection> all_sections(const Command& command);

}  // namespace attn
