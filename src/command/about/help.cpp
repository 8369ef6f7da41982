#include "command/about/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "command/annex.hpp"
#include "command/app.hpp"
#include "command/command.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

namespace {

void add_section_title(Page& page, std::string_view title) { page.say(text(strong(std::string(title)))); }

Block example_block(std::span<const std::string_view> examples) {
  Listing listing{{"example"}, {}};
  for (const std::string_view example : examples) listing.rows.push_back({std::string(example)});
  return listing;
}

Block listing_of_choices(std::span<const OptionChoice> rows, std::string_view what, std::string_view does) {
  Listing listing{{std::string(what), std::string(does)}, {}};
  for (const OptionChoice& row : rows) listing.rows.push_back({std::string(row.name), std::string(row.summary)});
  return listing;
}

void help_on_options(Page& page, const OptionSection& section) {
  if (!section.title.empty()) add_section_title(page, section.title);
  if (!section.options.empty()) {
    Listing listing{{"option", "what it does"}, {}};
    for (const OfferedOption& row : section.options) listing.rows.push_back({usage_of(row), summary_in_help(row)});
    page.say(std::move(listing));
  }
  for (const ChoiceList& list : section.choices) {
    add_section_title(page, list.title);
    page.say(listing_of_choices(list.choices, "name", "what it is"));
  }
}

void add_sections(Page& page, const std::vector<OptionSection>& sections) {
  for (const OptionSection& section : sections) help_on_options(page, section);
}

void help_on_facts(Page& page) {
  const ProgramFacts all = shared_facts();
  add_section_title(page, "Variables of the environment");
  page.say(listing_of_choices(all.variables, "variable", "what it says"));
  add_section_title(page, "Files");
  page.say(listing_of_choices(all.files, "file", "what it is"));
  add_section_title(page, "Exit codes");
  page.say(listing_of_choices(all.exit_codes, "code", "what it means"));
}

void help_on_commands(Page& page) {
  for (const Subject* subject : subjects) {
    add_section_title(page, subject->title);
    Listing listing{{"command", "what it shows"}, {}};
    for (const Command* command : commands_on(*subject))
      listing.rows.push_back({std::string(command->name), std::string(command->summary)});
    page.say(std::move(listing));
  }
}

// What several commands share: it can be read by itself.
struct Topic {
  std::string_view name;
  std::string_view summary;
  bool (*concerns)(const Command& command);
  std::function<void(Page& page)> add;
};

bool no_command(const Command&) { return false; }
bool every_command(const Command&) { return true; }
bool commands_on_problems(const Command& command) { return command.takes_problem(); }
bool commands_on_matrices(const Command& command) {
  return std::ranges::find(command.groups, &matrix_options()) != command.groups.end();
}

std::vector<Topic> make_topics() {
  std::vector<Topic> all = {
      {"commands", "what each command shows or does", no_command, help_on_commands},
      {"input", "the options that give words, matrices and settings, for all commands that take them",
       commands_on_problems, [](Page& page) {
         add_sections(page, input_sections([](const Option& option) { return (option.effect & on_attention) != 0; },
                                           examples().front().name));
       }}};
  for (const Annex* annex : annexes()) {
    all.push_back({annex->name, annex->summary, commands_on_matrices, [annex](Page& page) {
                     help_on_options(page, {"", annex->options().options, {}});
                   }});
  }
  all.push_back({"output", "the options that say how a page is written: formats, width, colors, paging", every_command,
                 [](Page& page) { help_on_options(page, output_section()); }});
  all.push_back({"environment", "variables of the environment, files and exit codes", every_command, help_on_facts});
  return all;
}

std::span<const Topic> topics() {
  static const std::vector<Topic> all = make_topics();
  return all;
}

void add_usage(Page& page, const Command& command) {
  page.say(example_block(command.examples));
  page.say(text(strong(usage_of(command)), fmt::format(": {}.", command.summary)));
  if (command.actions.empty()) return;
  Listing listing{{"action", "what it does"}, {}};
  for (const Action& action : command.actions) listing.rows.push_back({usage_of(action), std::string(action.summary)});
  page.say(std::move(listing));
}

}  // namespace

Page general_help() {
  Page page;
  page.say(text(strong("attn"), " walks through attention step by step and explains every number."));
  page.say(example_block(general_examples()));
  Listing listing{{"subject", "commands"}, {}};
  for (const Subject* subject : subjects) {
    std::string names;
    for (const Command* command : commands_on(*subject))
      names += (names.empty() ? "" : " ") + std::string(command->name);
    listing.rows.push_back({std::string(subject->title), std::move(names)});
  }
  page.say(std::move(listing));
  Listing more{{"more", "what it shows"},
               {{"attn COMMAND -h", "what is the command's own"}, {"attn help COMMAND", "all options of a command"}}};
  for (const Topic& topic : topics())
    more.rows.push_back({fmt::format("attn help {}", topic.name), std::string(topic.summary)});
  page.say(std::move(more));
  return page;
}

Page short_help(const Command& command) {
  Page page;
  add_usage(page, command);
  OptionSection own = own_section(command);
  own.choices.clear();
  // What many commands share in the same words is a topic of its own.
  if (commands_on_matrices(command)) {
    std::erase_if(own.options, [&](const OfferedOption& row) {
      const auto is_it = [&](const OfferedOption& other) { return other.option == row.option; };
      const auto is_of_annex = [&](const Annex* annex) { return std::ranges::any_of(annex->options().options, is_it); };
      return std::ranges::any_of(annexes(), is_of_annex) && std::ranges::none_of(command.own.options, is_it);
    });
  }
  help_on_options(page, own);
  Listing more{{"more", "what it shows"}, {{fmt::format("attn help {}", command.name), "all options of this command"}}};
  for (const Topic& topic : topics()) {
    if (!topic.concerns(command)) continue;
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
  for (const Topic& topic : topics()) names.push_back({topic.name, topic.summary});
  return names;
}

Answer run_help(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {general_help()};
  const std::string& name = arguments.words.front();
  if (const Topic* const topic = find_row(topics(), name)) {
    Answer answer;
    topic->add(answer.page);
    return answer;
  }
  return {command_help(look_up(commands(), name, "command"))};
}

}  // namespace attn
