#include "problem/examples.hpp"
#include "command/command.hpp"
#include "problem/problem_file.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

OptionValues values_of(const Example& example) {
  return read_problem_file(example.json, std::string(example.name));
}

}  // namespace

Outcome run_examples(const Command&, const Arguments& arguments) {
  Page page;
  if (arguments.words.empty()) {
    Listing listing{{"example", "what it shows"}, {}};
    for (const Example& example : examples()) {
      listing.rows.push_back({std::string(example.name), *values_of(example).text(option::summary)});
    }
    page.say(std::move(listing));
    page.say(text("To see one: ", code("attn walk --example NAME"), "."));
    return {std::move(page)};
  }
  const Example& example = look_up(examples(), arguments.words.front(), "example");
  const OptionValues values = values_of(example);
  page.head(1, *values.text(option::title));
  page.say(text(*values.text(option::summary)));
  for (const std::string& paragraph : values.texts(option::about)) page.say(text(paragraph));
  page.say(text("To see it: ", code("attn walk --example " + std::string(example.name)), "."));
  return {std::move(page)};
}

}  // namespace attn
