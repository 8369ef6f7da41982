#include <fmt/format.h>

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

Block listing_of_fields(const Command& command) {
  Listing listing{{"option", "what it gives"}, {}};
  for (const Field& field : fields()) {
    if (!heeds(command, field)) continue;
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

}  // namespace

Page general_help() {
  Page page;
  page.say(text(strong("attn"), " walks through attention step by step and explains every number."));
  constexpr std::string_view examples[] = {"attn walk", "attn explain 'weights[1,2]' --depth 3"};
  page.say(example_block(examples));
  Listing listing{{"command", "what it shows"}, {}};
  for (const Command& command : commands()) {
    listing.rows.push_back({std::string(command.name), std::string(command.summary)});
  }
  page.say(std::move(listing));
  page.say(text(code("attn help COMMAND"), " tells more about each."));
  return page;
}

Page command_help(const Command& command) {
  Page page;
  page.say(example_block(command.examples));
  page.say(
      text(strong(fmt::format("attn {}{}{}", command.name, command.words.empty() ? "" : " ", command.words)),
           fmt::format(": {}.", command.summary)));
  if (!command.options.empty()) page.say(listing_of(command.options));
  if (command.takes_problem) {
    page.say(text(strong("What is attended to, and how")));
    page.say(listing_of(problem_options()));
    page.say(listing_of_fields(command));
    if (heeds_field(command, "score")) add_choices(page, "NAME of --score", scoring_functions());
    if (heeds_field(command, "scale")) add_choices(page, "S of --scale, or a number", scales());
    if (heeds_field(command, "positions")) add_choices(page, "KIND of --positions", position_kinds());
    if (heeds_field(command, "random")) add_choices(page, "KIND of --random", random_kinds());
    add_choices(page,
                "MATRIX: a literal such as '1 0; 0 1' or '[[1,0],[0,1]]', - for standard input, or a file",
                matrix_kinds());
  }
  page.say(text(strong("How it is written")));
  page.say(listing_of(output_options()));
  add_choices(page, "NAME of --format", formats());
  return page;
}

Outcome run_help(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {general_help()};
  return {command_help(look_up(commands(), arguments.words.front(), "command"))};
}

Outcome run_version(const Command&, const Arguments&) {
  Page page;
  page.say(text("attn " ATTN_VERSION));
  return {std::move(page)};
}

}  // namespace attn
