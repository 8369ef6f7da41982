#include <algorithm>

#include "attention/steps.hpp"
#include "command/solve.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

namespace {

std::string meaning_of(const Step& step, const Node& node) {
  if (node.leaf() != "alignment") return step.meaning(node);
  return "The weights transposed: a column for each query and a row for each key. Columns sum to one.";
}

}  // namespace

Outcome run_step(const Command& command, const Arguments& arguments) {
  const Step& step = look_up(steps(), command.name, "step");
  const Solved solved = solve(arguments, step.extent);
  Page page = solved.page(arguments.text("only"));
  // The transposed weights take the place of the weights.
  const auto shown = [&](const Node& node) {
    return arguments.has("transpose") ? node.leaf() == "alignment" : step.shows(node);
  };
  std::erase_if(page.trace, [&](const Node* node) { return !shown(*node); });
  if (page.trace.empty()) {
    if (arguments.has("only"))
      fail("--only {}: attn {} shows no such matrix", *arguments.text("only"), step.name);
    fail("there is nothing for attn {} to compute here: give {}", step.name, step.needs);
  }
  page.head(1, std::string(step.title));
  page.say(text(meaning_of(step, *page.trace.front())));
  add_drawn(page, *solved.problem);
  for (const auto& nodes : by_scope(page.trace)) {
    add_results(page, nodes);
    add_reading(page, *nodes.back());
  }
  return {std::move(page), solved.warnings()};
}

}  // namespace attn
