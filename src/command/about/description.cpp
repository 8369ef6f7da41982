#include "command/about/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "command/command.hpp"
#include "data/problem/model_words.hpp"
#include "page/document/markdown.hpp"

namespace attn {

namespace {

// The choices of those options that have some, which say what they are.
std::vector<ChoiceList> choices_of_all(std::span<const OfferedOption> options) {
  std::vector<ChoiceList> lists;
  for (const OfferedOption& row : options) {
    std::vector<OptionChoice> choices = choices_in_help(row);
    if (choices.empty()) continue;
    const Option& option = *row.option;
    const std::string_view placeholder = option.placeholder.substr(0, option.placeholder.find(':'));
    lists.push_back({fmt::format("{} of {}{}", placeholder, option.name,
                                 option.kind == Kind::word_or_number ? ", or a number" : ""),
                     std::move(choices), &option});
  }
  return lists;
}

}  // namespace

std::vector<OptionSection> input_sections(const std::function<bool(const Option&)>& is_shown,
                                          std::string_view default_example) {
  OptionSection whole{"Input and settings", {}}, fields{"", {}};
  for (const OfferedOption& row : problem_options().options) {
    if (!is_shown(*row.option)) continue;
    const bool is_field = std::ranges::find(problem_members(), row.option) != problem_members().end();
    (is_field ? fields : whole).options.push_back(row);
  }
  for (OfferedOption& row : whole.options) {
    if (row.option == &option::example) row.usual = default_example;
  }
  fields.choices = choices_of_all(fields.options);
  fields.choices.push_back({"MATRIX: a literal such as '1 0; 0 1' or '[[1,0],[0,1]]', - for standard input, or a file",
                            choices_of(matrix_kinds())});
  return {std::move(whole), std::move(fields)};
}

OptionSection output_section() {
  const std::vector<OfferedOption>& options = output_options().options;
  return {"Output", options, choices_of_all(options)};
}

ProgramFacts shared_facts() {
  static const std::array codes = [] {
    std::array<std::string, std::size(exit_codes)> texts;
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = std::to_string(exit_codes[i]->code);
    return texts;
  }();
  ProgramFacts all;
  for (const Variable* row : variables) all.variables.push_back({row->name, row->summary});
  all.files = {{option::state.usual, option::state.summary}};
  for (std::size_t i = 0; i < codes.size(); ++i) all.exit_codes.push_back({codes[i], exit_codes[i]->meaning});
  return all;
}

std::span<const std::string_view> general_examples() {
  static constexpr std::string_view examples[] = {"attn walk", "attn explain 'weights[1,2]' --depth 3", "attn lesson"};
  return examples;
}

std::string usage_of(const Command& command) {
  const std::string words = usage_of_words(command.words);
  return fmt::format("attn {}{}{}", command.name, words.empty() ? "" : " ", words);
}

std::string usage_of(const Action& action) {
  const std::string words = usage_of_words(action.words);
  return fmt::format("{}{}{}", action.name, words.empty() ? "" : " ", words);
}

std::string usage_of(const OfferedOption& row) {
  const std::string_view value = row.option->placeholder;
  return fmt::format("{}{}{}", row.option->name, value.empty() ? "" : " ", value);
}

std::string summary_in_help(const OfferedOption& row) {
  if (row.usual.empty()) return std::string(row.summary);
  return fmt::format("{} (default{}{})", row.summary, row.usual.starts_with(':') ? "" : " ", row.usual);
}

std::vector<OptionChoice> choices_in_help(const OfferedOption& row) {
  std::vector<OptionChoice> choices = row.choices ? row.choices() : std::vector<OptionChoice>();
  if (!choices.empty() && choices.front().summary.empty()) choices.clear();
  return choices;
}

OptionSection own_section(const Command& command) {
  std::vector<OfferedOption> options = command.own.options;
  for (const OptionGroup* group : command.groups) {
    if (group != &problem_options()) options.insert(options.end(), group->options.begin(), group->options.end());
  }
  std::vector<ChoiceList> choices = choices_of_all(options);
  if (command.told.names) choices.push_back({std::string(command.told.title), command.told.names()});
  return {"", std::move(options), std::move(choices)};
}

std::vector<OptionSection> all_sections(const Command& command) {
  std::vector<OptionSection> sections = {own_section(command)};
  if (command.takes_problem()) {
    const std::string_view own = command.default_example;
    std::ranges::move(input_sections([&](const Option& option) { return command.uses(option); },
                                     own.empty() ? examples().front().name : own),
                      std::back_inserter(sections));
  }
  sections.push_back(output_section());
  return sections;
}

}  // namespace attn
