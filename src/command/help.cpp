#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/command.hpp"
#include "problem/examples.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// What a listing says of an option: "number of heads (default 1)".
std::string described(const Offered& row) {
  if (row.usual.empty()) return std::string(row.summary);
  return fmt::format("{} (default{}{})", row.summary, row.usual.starts_with(':') ? "" : " ", row.usual);
}

Block listing_of(std::span<const Offered> options, std::string_view what) {
  Listing listing{{"option", std::string(what)}, {}};
  for (const Offered& row : options) {
    const std::string_view placeholder = row.option->placeholder;
    listing.rows.push_back(
        {fmt::format("{}{}{}", row.option->name, placeholder.empty() ? "" : " ", placeholder),
         described(row)});
  }
  return listing;
}

// The names that something is chosen from.
void add_choices(Page& page, std::string_view what, const std::vector<OptionChoice>& choices) {
  page.say(text(strong(std::string(what))));
  Listing listing{{"name", "what it is"}, {}};
  for (const OptionChoice& choice : choices)
    listing.rows.push_back({std::string(choice.name), std::string(choice.summary)});
  page.say(std::move(listing));
}

// The choices of those options that have some, which say what they are.
void add_choices_of(Page& page, std::span<const Offered> options) {
  for (const Offered& row : options) {
    const std::vector<OptionChoice> choices = row.choices ? row.choices() : std::vector<OptionChoice>();
    if (choices.empty() || choices.front().summary.empty()) continue;
    const Option& option = *row.option;
    const std::string_view placeholder = option.placeholder.substr(0, option.placeholder.find(':'));
    add_choices(page,
                fmt::format("{} of {}{}", placeholder, option.name,
                            option.kind == Kind::word_or_number ? ", or a number" : ""),
                choices);
  }
}

Block example_block(std::span<const std::string_view> examples) {
  Listing listing{{"example"}, {}};
  for (const std::string_view example : examples) listing.rows.push_back({std::string(example)});
  return listing;
}

void add_head(Page& page, std::string_view title) {
  page.say(text(strong(std::string(title))));
}

// The options of a problem that have an effect where this is shown.
void add_input(Page& page, unsigned shown, std::string_view default_example) {
  std::vector<Offered> whole, fields;
  for (const Offered& row : problem_options().options) {
    if ((row.option->effect & shown) == 0) continue;
    const bool is_field = std::ranges::find(problem_members(), row.option) != problem_members().end();
    (is_field ? fields : whole).push_back(row);
  }
  for (Offered& row : whole) {
    if (row.option == &option::example) row.usual = default_example;
  }
  add_head(page, "Input and settings");
  page.say(listing_of(whole, "what it does"));
  page.say(listing_of(fields, "what it gives"));
  add_choices_of(page, fields);
  add_choices(page,
              "MATRIX: a literal such as '1 0; 0 1' or '[[1,0],[0,1]]', - for standard input, or a file",
              choices_of(matrix_kinds()));
}

void add_output(Page& page) {
  add_head(page, "Output");
  page.say(listing_of(output_options().options, "what it does"));
  add_choices_of(page, output_options().options);
}

// What several commands share: it can be read by itself.
struct Topic {
  std::string_view name;
  std::string_view summary;
  void (*add)(Page& page);
};

constexpr std::array topics = {
    Topic{"input", "the options that give words, matrices and settings, for all commands that take them",
          [](Page& page) { add_input(page, on_attention, examples().front().name); }},
    Topic{"output", "the options that say how a page is written: formats, width, colors, paging", add_output},
};

// The options of a command, but for those that describe a problem.
std::vector<Offered> own_options(const Command& command) {
  std::vector<Offered> options = command.own.options;
  for (const OptionGroup* group : command.groups) {
    if (group != &problem_options())
      options.insert(options.end(), group->options.begin(), group->options.end());
  }
  return options;
}

void add_usage(Page& page, const Command& command) {
  page.say(example_block(command.examples));
  page.say(
      text(strong(fmt::format("attn {}{}{}", command.name, command.words.empty() ? "" : " ", command.words)),
           fmt::format(": {}.", command.summary)));
  const std::vector<Offered> options = own_options(command);
  if (!options.empty()) page.say(listing_of(options, "what it does"));
}

}  // namespace

Page general_help() {
  Page page;
  page.say(text(strong("attn"), " walks through attention step by step and explains every number."));
  constexpr std::string_view examples[] = {"attn walk", "attn explain 'weights[1,2]' --depth 3",
                                           "attn lesson"};
  page.say(example_block(examples));
  Listing listing{{"command", "what it shows"}, {}};
  for (const Command& command : commands()) {
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
  add_choices_of(page, own_options(command));
  if (command.takes_problem()) {
    const std::string_view own = command.default_example;
    add_input(page, command.shows, own.empty() ? examples().front().name : own);
  }
  add_output(page);
  return page;
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

Outcome run_version(const Command&, const Arguments&) {
  Page page;
  page.say(text("attn " ATTN_VERSION));
  return {std::move(page)};
}

}  // namespace attn
