#include <algorithm>
#include <set>

#include "command/solve.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "tell/describe.hpp"
#include "tell/meanings.hpp"
#include "tell/steps.hpp"

namespace attn {
namespace {

std::string meaning_of(const Step& step, const Node& node) {
  return node.is(role::alignment) ? meaning_of_alignment(node) : step.meaning(node);
}

void add_step(Page& page, const Step& step, const Problem& problem) {
  page.head(1, heading_of(step, *page.trace.front()));
  std::set<std::string> told;
  const auto tell = [&](std::string meaning) {
    if (told.insert(meaning).second) page.say(std::move(meaning));
  };
  tell(meaning_of(step, *page.trace.front()));
  if (!step.background.empty()) page.say(std::string(step.background));
  add_drawn(page, problem);
  for (const auto& nodes : by_scope(page.trace)) {
    tell(meaning_of(step, *nodes.front()));
    add_results(page, nodes);
    add_reading(page, *nodes.back());
  }
}

}  // namespace

Outcome run_step(const Command& command, const Arguments& arguments) {
  const Step& step = look_up(steps(), command.name, "step");
  const Solved solved = solve(arguments, step.extent);
  const std::optional<std::string> only = arguments.text("only");
  Page page = solved.page(only);
  // The transposed weights take the place of the weights.
  const auto shown = [&](const Node& node) {
    return arguments.has("transpose") ? node.is(role::alignment) : step.shows(node);
  };
  std::erase_if(page.trace, [&](const Node* node) { return !shown(*node); });
  if (page.trace.empty()) {
    if (only) fail("--only {}: attn {} shows no such matrix", *only, step.name);
    fail("attn {} has nothing to compute here: give {}", step.name, step.needs);
  }
  if (only) {
    add_matrices(page);
  } else {
    add_step(page, step, *solved.problem);
  }
  return {std::move(page), solved.warnings()};
}

}  // namespace attn
