#include <algorithm>
#include <set>

#include "command/parameter_file.hpp"
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

void add_step(Page& page, const Step& step, const std::vector<const Node*>& nodes, const Problem& problem) {
  page.head(1, heading_of(step, *nodes.front()));
  std::set<std::string> told;
  const auto tell = [&](std::string meaning) {
    if (told.insert(meaning).second) page.say(std::move(meaning));
  };
  tell(meaning_of(step, *nodes.front()));
  if (!step.background.empty()) page.say(std::string(step.background));
  add_drawn(page, problem);
  for (const auto& together : by_scope(nodes)) {
    tell(meaning_of(step, *together.front()));
    add_results(page, together);
    add_reading(page, *together.back());
  }
}

}  // namespace

Outcome run_feed_forward(const Command& command, const Arguments& arguments) {
  return run_step(command, with_part(arguments, scope::feed_forward,
                                     {&option::w_1, &option::b_1, &option::w_2, &option::b_2}));
}

Outcome run_step(const Command& command, const Arguments& arguments) {
  const Step& step = look_up(steps(), command.name, "step");
  const Solved solved = solve(arguments, step.extent);
  std::vector<const Node*> nodes = solved.nodes(std::nullopt);
  // The transposed weights take the place of the weights.
  const auto shown = [&](const Node& node) {
    return arguments.has(option::transpose) ? node.is(role::alignment) : step.shows(node);
  };
  std::erase_if(nodes, [&](const Node* node) { return !shown(*node); });
  if (nodes.empty()) fail("attn {} has nothing to compute here: give {}", step.name, step.needs);
  Page page = solved.page(nodes);
  if (!arguments.narrows()) add_step(page, step, nodes, *solved.problem);
  return solved.outcome(std::move(page));
}

}  // namespace attn
