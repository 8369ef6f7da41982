#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "attention/positions.hpp"
#include "attention/scale.hpp"
#include "attention/score.hpp"
#include "command/command.hpp"
#include "math/random.hpp"
#include "render/format.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

Block listing_of(std::span<const Option> options) {
  Listing listing{{"option", "what it does"}, {}};
  for (const Option& option : options) {
    listing.rows.push_back(
        {fmt::format("{}{}{}", option.name, option.placeholder.empty() ? "" : " ", option.placeholder),
         std::string(option.summary)});
  }
  return listing;
}

template <class Chosen>
Block listing_of_fields(const Chosen& is_chosen) {
  Listing listing{{"option", "what it gives"}, {}};
  for (const Field& field : fields()) {
    if (!is_chosen(field)) continue;
    listing.rows.push_back(
        {fmt::format("{}{}{}", field.option, field.placeholder.empty() ? "" : " ", field.placeholder),
         std::string(field.summary)});
  }
  return listing;
}

bool heeds_field(const Command& command, std::string_view name) {
  return heeds(command, look_up(fields(), name, "field"));
}

// The rows of a table that an option or a placeholder chooses from.
template <class Row>
void add_choices(Page& page, std::string_view what, std::span<const Row> table) {
  page.say(text(strong(std::string(what))));
  Listing listing{{"name", "what it is"}, {}};
  for (const Row& row : table) listing.rows.push_back({std::string(row.name), std::string(row.summary)});
  page.say(std::move(listing));
}

Block example_block(std::span<const std::string_view> examples) {
  Listing listing{{"example"}, {}};
  for (const std::string_view example : examples) listing.rows.push_back({std::string(example)});
  return listing;
}

void add_head(Page& page, std::string_view title) {
  page.say(text(strong(std::string(title))));
}

void add_matrix_kinds(Page& page) {
  add_choices(page,
              "MATRIX: a literal such as '1 0; 0 1' or '[[1,0],[0,1]]', - for standard input, or a file",
              matrix_kinds());
}

// What the fields of this kind choose from, as far as the command has them.
template <class Has>
void add_choices_of_fields(Page& page, const Has& has) {
  if (has("score")) add_choices(page, "NAME of --score", scoring_functions());
  if (has("scale")) add_choices(page, "S of --scale, or a number", scales());
  if (has("positions")) add_choices(page, "KIND of --positions", position_kinds());
  if (has("random")) add_choices(page, "KIND of --random", random_kinds());
}

void add_output(Page& page) {
  add_head(page, "Output");
  page.say(listing_of(output_options()));
  add_choices(page, "NAME of --format", formats());
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
            add_head(page, "Input and settings");
            page.say(listing_of(problem_options()));
            page.say(listing_of_fields([](const Field&) { return true; }));
            add_choices_of_fields(page, [](std::string_view) { return true; });
            add_matrix_kinds(page);
          }},
    Topic{"output", "the options that say how a page is written: formats, width, colors, paging", add_output},
};

void add_usage(Page& page, const Command& command) {
  page.say(example_block(command.examples));
  page.say(
      text(strong(fmt::format("attn {}{}{}", command.name, command.words.empty() ? "" : " ", command.words)),
           fmt::format(": {}.", command.summary)));
  if (!command.options.empty()) page.say(listing_of(command.options));
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
    if (topic.name == "input" && !command.takes_problem) continue;
    more.rows.push_back({fmt::format("attn help {}", topic.name), std::string(topic.summary)});
  }
  page.say(std::move(more));
  return page;
}

Page command_help(const Command& command) {
  Page page;
  add_usage(page, command);
  if (command.takes_problem) {
    const auto has = [&](std::string_view field) { return heeds_field(command, field); };
    add_head(page, "Input and settings");
    page.say(listing_of(problem_options()));
    page.say(listing_of_fields([&](const Field& field) { return heeds(command, field); }));
    add_choices_of_fields(page, has);
    add_matrix_kinds(page);
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
