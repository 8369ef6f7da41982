#include <fmt/format.h>

#include <array>

#include "command/about/description.hpp"
#include "problem/examples.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

void add_head(Page& page, std::string_view title) {
  page.say(text(strong(std::string(title))));
}

Block example_block(std::span<const std::string_view> examples) {
  Listing listing{{"example"}, {}};
  for (const std::string_view example : examples) listing.rows.push_back({std::string(example)});
  return listing;
}

Block listing_of(std::span<const OptionChoice> rows, std::string_view what, std::string_view does) {
  Listing listing{{std::string(what), std::string(does)}, {}};
  for (const OptionChoice& row : rows)
    listing.rows.push_back({std::string(row.name), std::string(row.summary)});
  return listing;
}

void add_section(Page& page, const OptionSection& section) {
  if (!section.title.empty()) add_head(page, section.title);
  if (!section.options.empty()) {
    Listing listing{{"option", "what it does"}, {}};
    for (const Offered& row : section.options) listing.rows.push_back({usage_of(row), described(row)});
    page.say(std::move(listing));
  }
  for (const ChoiceList& list : section.choices) {
    add_head(page, list.title);
    page.say(listing_of(list.choices, "name", "what it is"));
  }
}

void add_sections(Page& page, const std::vector<OptionSection>& sections) {
  for (const OptionSection& section : sections) add_section(page, section);
}

void add_facts(Page& page) {
  const Facts all = shared_facts();
  add_head(page, "Variables of the environment");
  page.say(listing_of(all.variables, "variable", "what it says"));
  add_head(page, "Files");
  page.say(listing_of(all.files, "file", "what it is"));
  add_head(page, "Exit codes");
  page.say(listing_of(all.exit_codes, "code", "what it means"));
}

// What several commands share: it can be read by itself.
struct Topic {
  std::string_view name;
  std::string_view summary;
  void (*add)(Page& page);
};

constexpr std::array topics = {
    Topic{"input", "the options that give words, matrices and settings, for all commands that take them",
          [](Page& page) {
            add_sections(
                page, input_sections([](const Option& option) { return (option.effect & on_attention) != 0; },
                                     examples().front().name));
          }},
    Topic{"output", "the options that say how a page is written: formats, width, colors, paging",
          [](Page& page) { add_section(page, output_section()); }},
    Topic{"environment", "variables of the environment, files and exit codes", add_facts},
};

void add_usage(Page& page, const Command& command) {
  page.say(example_block(command.examples));
  page.say(text(strong(usage_of(command)), fmt::format(": {}.", command.summary)));
  if (command.actions.empty()) return;
  Listing listing{{"action", "what it does"}, {}};
  for (const Action& action : command.actions)
    listing.rows.push_back({usage_of(action), std::string(action.summary)});
  page.say(std::move(listing));
}

}  // namespace

Page general_help() {
  Page page;
  page.say(text(strong("attn"), " walks through attention step by step and explains every number."));
  page.say(example_block(general_examples()));
  Listing listing{{"command", "what it shows"}, {}};
  for (const Command& command : commands()) {
    if (command.caller == Caller::people)
      listing.rows.push_back({std::string(command.name), std::string(command.summary)});
  }
  page.say(std::move(listing));
  Listing more{
      {"more", "what it shows"},
      {{"attn COMMAND -h", "what is the command's own"}, {"attn help COMMAND", "all options of a command"}}};
  for (const Topic& topic : topics)
    more.rows.push_back({fmt::format("attn help {}", topic.name), std::string(topic.summary)});
  page.say(std::move(more));
  return page;
}

Page short_help(const Command& command) {
  Page page;
  add_usage(page, command);
  OptionSection own = own_section(command);
  own.choices.clear();
  add_section(page, own);
  Listing more{{"more", "what it shows"},
               {{fmt::format("attn help {}", command.name), "all options of this command"}}};
  for (const Topic& topic : topics) {
    if (topic.name == "input" && !command.takes_problem()) continue;
    more.rows.push_back({fmt::format("attn help {}", topic.name), std::string(topic.summary)});
  }
  page.say(std::move(more));
  return page;
}

Page command_help(const Command& command) {
  Page page;
  add_usage(page, command);
  add_sections(page, all_sections(command));
  return page;
}

std::vector<OptionChoice> choices::help() {
  std::vector<OptionChoice> names;
  for (const Command& command : commands()) {
    if (command.caller == Caller::people) names.push_back({command.name, command.summary});
  }
  for (const Topic& topic : topics) names.push_back({topic.name, topic.summary});
  return names;
}

Outcome run_help(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {general_help()};
  const std::string& name = arguments.words.front();
  if (const Topic* const topic = find_row(std::span<const Topic>(topics), name)) {
    Outcome outcome;
    topic->add(outcome.page);
    return outcome;
  }
  return {command_help(look_up(commands(), name, "command"))};
}

}  // namespace attn
