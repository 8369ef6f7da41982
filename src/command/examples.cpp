#include "problem/examples.hpp"
#include "command/command.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

Request request_of(const Example& example) {
  return read_request(example.json, std::string(example.name));
}

}  // namespace

Outcome run_examples(const Command&, const Arguments& arguments) {
  Page page;
  if (arguments.words.empty()) {
    Listing listing{{"example", "what it shows"}, {}};
    for (const Example& example : examples()) {
      listing.rows.push_back({std::string(example.name), request_of(example).summary});
    }
    page.say(std::move(listing));
    page.say(text("To see one: ", code("attn walk --example NAME"), "."));
    return {std::move(page)};
  }
  const Example& example = look_up(examples(), arguments.words.front(), "example");
  const Request request = request_of(example);
  page.head(1, request.title);
  page.say(text(request.summary));
  for (const std::string& paragraph : request.about) page.say(text(paragraph));
  page.say(text("To see it: ", code("attn walk --example " + std::string(example.name)), "."));
  return {std::move(page)};
}

}  // namespace attn
